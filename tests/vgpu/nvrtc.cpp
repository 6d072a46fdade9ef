// SPDX-License-Identifier: MIT
/*
 * What stands for NVRTC where the GPU is the virtual one: vgpu-cc compiles the source, and a "cubin" is a module of the
 * virtual GPU. Of the options, macros and folders of headers are passed on. Kernels that are templates are not found.
 * PTSCHED_NVRTC names this library to libptask; vgpu_nvrtc_compilations() tells how often it has compiled.
 */
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

/* As in nvrtc.h. */
enum Result { success = 0, failed = 1, does_not_compile = 6 };

struct Program {
    std::string source, log, image, name;
    std::vector<std::pair<std::string, std::string>> headers = {};
};

unsigned compilations;

std::string content(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/* Those that a compiler of the host knows, too. */
std::string options_of(int count, const char *const *options)
{
    std::string words;
    for (const std::string option : std::vector<const char *>(options, options + count))
        if (option.starts_with("-D") || option.starts_with("-I"))
            words += " '" + option + "'";
    return words;
}

Result compile(Program &program, const fs::path &folder, const std::string &options)
{
    compilations++;
    std::ofstream(folder / "source.cu") << program.source;
    for (const auto &[name, text] : program.headers) {
        std::filesystem::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << text;
    }
    /* Both paths are without what a shell would take for its own. */
    const std::string command =
        "cd " + folder.string() + " && " VGPU_CC " source.cu -o module.so -I ." + options + " >log 2>&1";
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

unsigned vgpu_nvrtc_compilations()
{
    return compilations;
}

Result nvrtcCreateProgram(Program **program, const char *source, const char *, int count, const char *const *texts,
                          const char *const *names)
{
    *program = new Program{source, {}, {}, {}};
    for (int i = 0; i < count; i++)
        (*program)->headers.emplace_back(names[i], texts[i]);
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

Result nvrtcCompileProgram(Program *program, int count, const char *const *options)
{
    std::string folder = "/tmp/vgpu-nvrtc-XXXXXX";
    if (!mkdtemp(folder.data()))
        return failed;
    Result result = compile(*program, folder, options_of(count, options));
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
