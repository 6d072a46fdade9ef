// SPDX-License-Identifier: MIT
// What stands for NVRTC where the GPU is the virtual one: vgpu-cc compiles the source, and a "cubin" is a module of the
// virtual GPU. Kernels that are templates are not found. PTSCHED_NVRTC names this library to libptask.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace {

/* As in nvrtc.h. */
enum Result { success = 0, failed = 1, does_not_compile = 6 };

struct Program {
    std::string source, log, image, name;
};

std::string content(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Result compile(Program &program, const fs::path &folder)
{
    std::ofstream(folder / "source.cu") << program.source;
    /* Both paths are without what a shell would take for its own. */
    const std::string command = "cd " + folder.string() + " && " VGPU_CC " source.cu -o module.so >log 2>&1";
    const bool compiled = std::system(command.c_str()) == 0;
    program.log = content(folder / "log");
    program.image = compiled ? content(folder / "module.so") : "";
    return compiled ? success : does_not_compile;
}

Result copy(const std::string &text, char *to)
{
    text.copy(to, text.size());
    return success;
}

} // namespace

extern "C" {

Result nvrtcCreateProgram(Program **program, const char *source, const char *, int, const char *const *,
                          const char *const *)
{
    *program = new Program{source, {}, {}, {}};
    return success;
}

Result nvrtcDestroyProgram(Program **program)
{
    delete *program;
    *program = nullptr;
    return success;
}

Result nvrtcAddNameExpression(Program *, const char *)
{
    return success;
}

Result nvrtcCompileProgram(Program *program, int, const char *const *)
{
    std::string folder = "/tmp/vgpu-nvrtc-XXXXXX";
    if (!mkdtemp(folder.data()))
        return failed;
    Result result = compile(*program, folder);
    fs::remove_all(folder);
    return result;
}

/* With the null at its end. */
Result nvrtcGetProgramLogSize(const Program *program, std::size_t *size)
{
    *size = program->log.size() + 1;
    return success;
}

Result nvrtcGetProgramLog(const Program *program, char *log)
{
    log[program->log.size()] = '\0';
    return copy(program->log, log);
}

Result nvrtcGetCUBINSize(const Program *program, std::size_t *size)
{
    *size = program->image.size();
    return success;
}

Result nvrtcGetCUBIN(const Program *program, char *image)
{
    return copy(program->image, image);
}

Result nvrtcGetLoweredName(Program *program, const char *expression, const char **name)
{
    program->name = expression;
    *name = program->name.c_str();
    return success;
}

const char *nvrtcGetErrorString(Result result)
{
    return result == does_not_compile ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OUT_OF_MEMORY";
}
}
