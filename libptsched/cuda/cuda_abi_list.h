/* SPDX-License-Identifier: MIT */
/*
 * The driver's entry points, one macro call each; no include guard, the file is read once per meaning given to the
 * macros, which it undefines at its end:
 *
 *   CU_ABI(symbol, base, since, args)
 *   CU_ABI_PTSZ(...)   also exported as symbol_ptsz, whose NULL stream is the calling thread's own
 *   CU_ABI_PTDS(...)   also exported as symbol_ptds, likewise for calls that wait
 *
 * `base` is the name that a program gives to cuGetProcAddress, `since` the version of CUDA that brought this symbol: of
 * the symbols with one base, a look-up gets the newest that is not newer than the version it asks for.
 *
 * CU_ABI_BASIC_ONLY leaves out what is listed last: entry points that programs use and the interposer must know, and
 * that the virtual GPU does not have.
 */
#ifndef CU_ABI_PTSZ
#define CU_ABI_PTSZ CU_ABI
#endif
#ifndef CU_ABI_PTDS
#define CU_ABI_PTDS CU_ABI
#endif

/* Initialisation, look-up, devices */
CU_ABI(cuInit, "cuInit", 2000, (unsigned int flags))
CU_ABI(cuDriverGetVersion, "cuDriverGetVersion", 2020, (int *version))
CU_ABI(cuGetErrorName, "cuGetErrorName", 6000, (CUresult error, const char **text))
CU_ABI(cuGetErrorString, "cuGetErrorString", 6000, (CUresult error, const char **text))
CU_ABI(cuGetExportTable, "cuGetExportTable", 3000, (const void **table, const CUuuid *id))
CU_ABI(cuGetProcAddress, "cuGetProcAddress", 11030, (const char *symbol, void **function, int version, uint64_t flags))
CU_ABI(cuGetProcAddress_v2, "cuGetProcAddress", 12000,
       (const char *symbol, void **function, int version, uint64_t flags, CUdriverProcAddressQueryResult *status))
CU_ABI(cuDeviceGet, "cuDeviceGet", 2000, (CUdevice * device, int ordinal))
CU_ABI(cuDeviceGetCount, "cuDeviceGetCount", 2000, (int *count))
CU_ABI(cuDeviceGetName, "cuDeviceGetName", 2000, (char *name, int length, CUdevice device))
CU_ABI(cuDeviceGetUuid, "cuDeviceGetUuid", 9020, (CUuuid * uuid, CUdevice device))
CU_ABI(cuDeviceGetUuid_v2, "cuDeviceGetUuid", 11040, (CUuuid * uuid, CUdevice device))
CU_ABI(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020, (size_t * bytes, CUdevice device))
CU_ABI(cuDeviceGetAttribute, "cuDeviceGetAttribute", 2000, (int *value, CUdevice_attribute attribute, CUdevice device))
CU_ABI(cuDeviceComputeCapability, "cuDeviceComputeCapability", 2000, (int *major, int *minor, CUdevice device))
CU_ABI(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", 4010, (char *bus_id, int length, CUdevice device))
CU_ABI(cuDeviceGetByPCIBusId, "cuDeviceGetByPCIBusId", 4010, (CUdevice * device, const char *bus_id))
CU_ABI(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", 4000, (int *can_access, CUdevice device, CUdevice peer))
CU_ABI(cuDeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", 11020, (CUmemoryPool * pool, CUdevice device))
CU_ABI(cuDeviceGetMemPool, "cuDeviceGetMemPool", 11020, (CUmemoryPool * pool, CUdevice device))

/* Contexts */
CU_ABI(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, (CUcontext * context, CUdevice device))
CU_ABI(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 7000, (CUdevice device))
CU_ABI(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, (CUdevice device))
CU_ABI(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset", 7000, (CUdevice device))
CU_ABI(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, (CUdevice device))
CU_ABI(cuDevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags", 7000, (CUdevice device, unsigned int flags))
CU_ABI(cuDevicePrimaryCtxSetFlags_v2, "cuDevicePrimaryCtxSetFlags", 11000, (CUdevice device, unsigned int flags))
CU_ABI(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", 7000,
       (CUdevice device, unsigned int *flags, int *active))
CU_ABI(cuCtxCreate_v2, "cuCtxCreate", 3020, (CUcontext * context, unsigned int flags, CUdevice device))
CU_ABI(cuCtxCreate_v3, "cuCtxCreate", 11040,
       (CUcontext * context, CUexecAffinityParam *affinity, int count, unsigned int flags, CUdevice device))
CU_ABI(cuCtxCreate_v4, "cuCtxCreate", 12050,
       (CUcontext * context, CUctxCreateParams *params, unsigned int flags, CUdevice device))
CU_ABI(cuCtxDestroy_v2, "cuCtxDestroy", 4000, (CUcontext context))
CU_ABI(cuGreenCtxCreate, "cuGreenCtxCreate", 12040,
       (CUgreenCtx * green, CUdevResourceDesc resources, CUdevice device, unsigned int flags))
CU_ABI(cuGreenCtxDestroy, "cuGreenCtxDestroy", 12040, (CUgreenCtx green))
CU_ABI(cuGreenCtxStreamCreate, "cuGreenCtxStreamCreate", 12050,
       (CUstream * stream, CUgreenCtx green, unsigned int flags, int priority))
CU_ABI(cuCtxFromGreenCtx, "cuCtxFromGreenCtx", 12040, (CUcontext * context, CUgreenCtx green))
CU_ABI(cuCtxPushCurrent_v2, "cuCtxPushCurrent", 4000, (CUcontext context))
CU_ABI(cuCtxPopCurrent_v2, "cuCtxPopCurrent", 4000, (CUcontext * context))
CU_ABI(cuCtxSetCurrent, "cuCtxSetCurrent", 4000, (CUcontext context))
CU_ABI(cuCtxGetCurrent, "cuCtxGetCurrent", 4000, (CUcontext * context))
CU_ABI(cuCtxGetDevice, "cuCtxGetDevice", 2000, (CUdevice * device))
CU_ABI(cuCtxGetFlags, "cuCtxGetFlags", 7000, (unsigned int *flags))
CU_ABI(cuCtxGetId, "cuCtxGetId", 12000, (CUcontext context, unsigned long long *id))
CU_ABI(cuCtxGetApiVersion, "cuCtxGetApiVersion", 3020, (CUcontext context, unsigned int *version))
CU_ABI(cuCtxSynchronize, "cuCtxSynchronize", 2000, (void))
CU_ABI(cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", 5050, (int *least, int *greatest))
CU_ABI(cuCtxGetLimit, "cuCtxGetLimit", 3010, (size_t * value, CUlimit limit))
CU_ABI(cuCtxSetLimit, "cuCtxSetLimit", 3010, (CUlimit limit, size_t value))
CU_ABI(cuCtxSetCacheConfig, "cuCtxSetCacheConfig", 3020, (CUfunc_cache config))
CU_ABI(cuCtxGetCacheConfig, "cuCtxGetCacheConfig", 3020, (CUfunc_cache * config))
CU_ABI(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", 4000, (CUcontext peer, unsigned int flags))
CU_ABI(cuCtxDisablePeerAccess, "cuCtxDisablePeerAccess", 4000, (CUcontext peer))

/* Modules, libraries, functions */
CU_ABI(cuModuleLoad, "cuModuleLoad", 2000, (CUmodule * module, const char *path))
CU_ABI(cuModuleLoadData, "cuModuleLoadData", 2000, (CUmodule * module, const void *image))
CU_ABI(cuModuleLoadDataEx, "cuModuleLoadDataEx", 2010,
       (CUmodule * module, const void *image, unsigned int count, CUjit_option *options, void **values))
CU_ABI(cuModuleUnload, "cuModuleUnload", 2000, (CUmodule module))
CU_ABI(cuModuleGetFunction, "cuModuleGetFunction", 2000, (CUfunction * function, CUmodule module, const char *name))
CU_ABI(cuModuleGetGlobal_v2, "cuModuleGetGlobal", 3020,
       (CUdeviceptr * pointer, size_t *bytes, CUmodule module, const char *name))
CU_ABI(cuLibraryLoadData, "cuLibraryLoadData", 12000,
       (CUlibrary * library, const void *code, CUjit_option *jit_options, void **jit_values, unsigned int jit_count,
        CUlibraryOption *options, void **values, unsigned int count))
CU_ABI(cuLibraryLoadFromFile, "cuLibraryLoadFromFile", 12000,
       (CUlibrary * library, const char *path, CUjit_option *jit_options, void **jit_values, unsigned int jit_count,
        CUlibraryOption *options, void **values, unsigned int count))
CU_ABI(cuLibraryUnload, "cuLibraryUnload", 12000, (CUlibrary library))
CU_ABI(cuLibraryGetKernel, "cuLibraryGetKernel", 12000, (CUkernel * kernel, CUlibrary library, const char *name))
CU_ABI(cuLibraryGetModule, "cuLibraryGetModule", 12000, (CUmodule * module, CUlibrary library))
CU_ABI(cuKernelGetFunction, "cuKernelGetFunction", 12000, (CUfunction * function, CUkernel kernel))
CU_ABI(cuFuncGetAttribute, "cuFuncGetAttribute", 2020,
       (int *value, CUfunction_attribute attribute, CUfunction function))
CU_ABI(cuFuncSetAttribute, "cuFuncSetAttribute", 9000, (CUfunction function, CUfunction_attribute attribute, int value))
CU_ABI(cuFuncSetCacheConfig, "cuFuncSetCacheConfig", 3000, (CUfunction function, CUfunc_cache config))
CU_ABI(cuFuncGetModule, "cuFuncGetModule", 11000, (CUmodule * module, CUfunction function))
CU_ABI(cuFuncGetName, "cuFuncGetName", 12030, (const char **name, CUfunction function))
CU_ABI(cuFuncGetParamInfo, "cuFuncGetParamInfo", 12040,
       (CUfunction function, size_t index, size_t *offset, size_t *size))
CU_ABI(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050,
       (int *blocks, CUfunction function, int block_size, size_t shared_bytes))
CU_ABI(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
       7000, (int *blocks, CUfunction function, int block_size, size_t shared_bytes, unsigned int flags))
CU_ABI(cuOccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize", 6050,
       (int *min_grid, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of_block, size_t shared_bytes,
        int limit))
CU_ABI(cuOccupancyMaxPotentialBlockSizeWithFlags, "cuOccupancyMaxPotentialBlockSizeWithFlags", 7000,
       (int *min_grid, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of_block, size_t shared_bytes,
        int limit, unsigned int flags))
CU_ABI(cuOccupancyAvailableDynamicSMemPerBlock, "cuOccupancyAvailableDynamicSMemPerBlock", 11000,
       (size_t * bytes, CUfunction function, int blocks, int block_size))

/* Streams and events */
CU_ABI(cuStreamCreate, "cuStreamCreate", 2000, (CUstream * stream, unsigned int flags))
CU_ABI(cuStreamCreateWithPriority, "cuStreamCreateWithPriority", 5050,
       (CUstream * stream, unsigned int flags, int priority))
CU_ABI(cuStreamDestroy_v2, "cuStreamDestroy", 4000, (CUstream stream))
CU_ABI_PTSZ(cuStreamGetPriority, "cuStreamGetPriority", 5050, (CUstream stream, int *priority))
CU_ABI_PTSZ(cuStreamGetFlags, "cuStreamGetFlags", 5050, (CUstream stream, unsigned int *flags))
CU_ABI_PTSZ(cuStreamGetId, "cuStreamGetId", 12000, (CUstream stream, unsigned long long *id))
CU_ABI_PTSZ(cuStreamGetCtx, "cuStreamGetCtx", 9020, (CUstream stream, CUcontext *context))
CU_ABI_PTSZ(cuStreamQuery, "cuStreamQuery", 2000, (CUstream stream))
CU_ABI_PTSZ(cuStreamSynchronize, "cuStreamSynchronize", 2000, (CUstream stream))
CU_ABI_PTSZ(cuStreamWaitEvent, "cuStreamWaitEvent", 3020, (CUstream stream, CUevent event, unsigned int flags))
CU_ABI_PTSZ(cuStreamAddCallback, "cuStreamAddCallback", 5000,
            (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags))
CU_ABI_PTSZ(cuStreamAttachMemAsync, "cuStreamAttachMemAsync", 6000,
            (CUstream stream, CUdeviceptr pointer, size_t length, unsigned int flags))
CU_ABI(cuEventCreate, "cuEventCreate", 2000, (CUevent * event, unsigned int flags))
CU_ABI(cuEventDestroy_v2, "cuEventDestroy", 4000, (CUevent event))
CU_ABI_PTSZ(cuEventRecord, "cuEventRecord", 2000, (CUevent event, CUstream stream))
CU_ABI_PTSZ(cuEventRecordWithFlags, "cuEventRecordWithFlags", 11010,
            (CUevent event, CUstream stream, unsigned int flags))
CU_ABI(cuEventQuery, "cuEventQuery", 2000, (CUevent event))
CU_ABI(cuEventSynchronize, "cuEventSynchronize", 2000, (CUevent event))
CU_ABI(cuEventElapsedTime, "cuEventElapsedTime", 2000, (float *milliseconds, CUevent start, CUevent end))
CU_ABI(cuEventElapsedTime_v2, "cuEventElapsedTime", 12080, (float *milliseconds, CUevent start, CUevent end))

/* Launches */
CU_ABI_PTSZ(cuLaunchKernel, "cuLaunchKernel", 4000,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
             unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params,
             void **extra))
CU_ABI_PTSZ(cuLaunchKernelEx, "cuLaunchKernelEx", 11060,
            (const CUlaunchConfig *config, CUfunction function, void **params, void **extra))
CU_ABI_PTSZ(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000,
            (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
             unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params))
CU_ABI_PTSZ(cuLaunchHostFunc, "cuLaunchHostFunc", 10000, (CUstream stream, CUhostFn function, void *data))

/* Stream capture */
CU_ABI_PTSZ(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, (CUstream stream, CUstreamCaptureMode mode))
CU_ABI_PTSZ(cuStreamEndCapture, "cuStreamEndCapture", 10000, (CUstream stream, CUgraph *graph))
CU_ABI_PTSZ(cuStreamIsCapturing, "cuStreamIsCapturing", 10000, (CUstream stream, CUstreamCaptureStatus *status))
CU_ABI_PTSZ(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo", 10010,
            (CUstream stream, CUstreamCaptureStatus *status, uint64_t *id))
CU_ABI_PTSZ(cuStreamGetCaptureInfo_v2, "cuStreamGetCaptureInfo", 11030,
            (CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
             const CUgraphNode **dependencies, size_t *count))
CU_ABI_PTSZ(cuStreamGetCaptureInfo_v3, "cuStreamGetCaptureInfo", 12030,
            (CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
             const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count))
CU_ABI(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", 10010, (CUstreamCaptureMode * mode))

/* Graphs */
CU_ABI(cuGraphCreate, "cuGraphCreate", 10000, (CUgraph * graph, unsigned int flags))
CU_ABI(cuGraphDestroy, "cuGraphDestroy", 10000, (CUgraph graph))
CU_ABI(cuGraphClone, "cuGraphClone", 10000, (CUgraph * clone, CUgraph original))
CU_ABI(cuGraphAddKernelNode, "cuGraphAddKernelNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
        const CUDA_KERNEL_NODE_PARAMS_v1 *params))
CU_ABI(cuGraphAddKernelNode_v2, "cuGraphAddKernelNode", 12000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
        const CUDA_KERNEL_NODE_PARAMS_v2 *params))
CU_ABI(cuGraphAddMemcpyNode, "cuGraphAddMemcpyNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_MEMCPY3D *copy,
        CUcontext context))
CU_ABI(cuGraphAddMemsetNode, "cuGraphAddMemsetNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))
CU_ABI(cuGraphAddHostNode, "cuGraphAddHostNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
        const CUDA_HOST_NODE_PARAMS *params))
CU_ABI(cuGraphAddEmptyNode, "cuGraphAddEmptyNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count))
CU_ABI(cuGraphAddEventWaitNode, "cuGraphAddEventWaitNode", 11010,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event))
CU_ABI(cuGraphAddDependencies, "cuGraphAddDependencies", 10000,
       (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count))
CU_ABI(cuGraphAddDependencies_v2, "cuGraphAddDependencies", 12030,
       (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t count))
CU_ABI(cuGraphGetNodes, "cuGraphGetNodes", 10000, (CUgraph graph, CUgraphNode *nodes, size_t *count))
CU_ABI(cuGraphGetRootNodes, "cuGraphGetRootNodes", 10000, (CUgraph graph, CUgraphNode *nodes, size_t *count))
CU_ABI(cuGraphGetEdges, "cuGraphGetEdges", 10000, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count))
CU_ABI(cuGraphNodeGetType, "cuGraphNodeGetType", 10000, (CUgraphNode node, CUgraphNodeType *type))
CU_ABI(cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams", 10000,
       (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params))
CU_ABI(cuGraphKernelNodeGetParams_v2, "cuGraphKernelNodeGetParams", 12000,
       (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params))
CU_ABI(cuGraphKernelNodeSetParams, "cuGraphKernelNodeSetParams", 10000,
       (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params))
CU_ABI(cuGraphKernelNodeSetParams_v2, "cuGraphKernelNodeSetParams", 12000,
       (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params))
CU_ABI(cuGraphInstantiate, "cuGraphInstantiate", 10000,
       (CUgraphExec * exec, CUgraph graph, CUgraphNode *error_node, char *log, size_t log_size))
CU_ABI(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000,
       (CUgraphExec * exec, CUgraph graph, CUgraphNode *error_node, char *log, size_t log_size))
CU_ABI(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040,
       (CUgraphExec * exec, CUgraph graph, unsigned long long flags))
CU_ABI_PTSZ(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams", 12000,
            (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params))
CU_ABI(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams", 10010,
       (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params))
CU_ABI(cuGraphExecKernelNodeSetParams_v2, "cuGraphExecKernelNodeSetParams", 12000,
       (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params))
CU_ABI(cuGraphExecMemcpyNodeSetParams, "cuGraphExecMemcpyNodeSetParams", 10020,
       (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext context))
CU_ABI(cuGraphExecUpdate, "cuGraphExecUpdate", 10020,
       (CUgraphExec exec, CUgraph graph, CUgraphNode *error_node, CUgraphExecUpdateResult *result))
CU_ABI(cuGraphExecUpdate_v2, "cuGraphExecUpdate", 12000,
       (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result))
CU_ABI(cuGraphExecGetFlags, "cuGraphExecGetFlags", 12000, (CUgraphExec exec, uint64_t *flags))
CU_ABI(cuGraphExecDestroy, "cuGraphExecDestroy", 10000, (CUgraphExec exec))
CU_ABI_PTSZ(cuGraphLaunch, "cuGraphLaunch", 10000, (CUgraphExec exec, CUstream stream))
CU_ABI_PTSZ(cuGraphUpload, "cuGraphUpload", 11010, (CUgraphExec exec, CUstream stream))

/* Memory */
CU_ABI(cuMemGetInfo_v2, "cuMemGetInfo", 3020, (size_t * available, size_t *total))
CU_ABI(cuMemAlloc_v2, "cuMemAlloc", 3020, (CUdeviceptr * pointer, size_t bytes))
CU_ABI(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020,
       (CUdeviceptr * pointer, size_t *pitch, size_t width, size_t height, unsigned int element_bytes))
CU_ABI(cuMemFree_v2, "cuMemFree", 3020, (CUdeviceptr pointer))
CU_ABI(cuMemGetAddressRange_v2, "cuMemGetAddressRange", 3020, (CUdeviceptr * base, size_t *size, CUdeviceptr pointer))
CU_ABI(cuMemAllocHost_v2, "cuMemAllocHost", 3020, (void **pointer, size_t bytes))
CU_ABI(cuMemFreeHost, "cuMemFreeHost", 2000, (void *pointer))
CU_ABI(cuMemHostAlloc, "cuMemHostAlloc", 2020, (void **pointer, size_t bytes, unsigned int flags))
CU_ABI(cuMemHostGetDevicePointer_v2, "cuMemHostGetDevicePointer", 3020,
       (CUdeviceptr * pointer, void *host, unsigned int flags))
CU_ABI(cuMemHostGetFlags, "cuMemHostGetFlags", 2030, (unsigned int *flags, void *host))
CU_ABI(cuMemHostRegister_v2, "cuMemHostRegister", 6050, (void *pointer, size_t bytes, unsigned int flags))
CU_ABI(cuMemHostUnregister, "cuMemHostUnregister", 4000, (void *pointer))
CU_ABI(cuMemAddressReserve, "cuMemAddressReserve", 10020,
       (CUdeviceptr * pointer, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags))
CU_ABI(cuMemAddressFree, "cuMemAddressFree", 10020, (CUdeviceptr pointer, size_t bytes))
CU_ABI(cuMemCreate, "cuMemCreate", 10020,
       (CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *properties,
        unsigned long long flags))
CU_ABI(cuMemRelease, "cuMemRelease", 10020, (CUmemGenericAllocationHandle handle))
CU_ABI(cuMemMap, "cuMemMap", 10020,
       (CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
        unsigned long long flags))
CU_ABI(cuMemUnmap, "cuMemUnmap", 10020, (CUdeviceptr pointer, size_t bytes))
CU_ABI(cuMemSetAccess, "cuMemSetAccess", 10020,
       (CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc *access, size_t count))
CU_ABI(cuMemGetAccess, "cuMemGetAccess", 10020,
       (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer))
CU_ABI(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity", 10020,
       (size_t * bytes, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags option))
CU_ABI(cuMemGetAllocationPropertiesFromHandle, "cuMemGetAllocationPropertiesFromHandle", 10020,
       (CUmemAllocationProp * properties, CUmemGenericAllocationHandle handle))
CU_ABI(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000,
       (CUmemGenericAllocationHandle * handle, void *address))
CU_ABI(cuMemExportToShareableHandle, "cuMemExportToShareableHandle", 10020,
       (void *shareable, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags))
CU_ABI(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", 10020,
       (CUmemGenericAllocationHandle * handle, void *shareable, CUmemAllocationHandleType type))
CU_ABI(cuMemAllocManaged, "cuMemAllocManaged", 6000, (CUdeviceptr * pointer, size_t bytes, unsigned int flags))
CU_ABI_PTSZ(cuMemAllocAsync, "cuMemAllocAsync", 11020, (CUdeviceptr * pointer, size_t bytes, CUstream stream))
CU_ABI(cuMemPoolCreate, "cuMemPoolCreate", 11020, (CUmemoryPool * pool, const CUmemPoolProps *properties))
CU_ABI(cuMemPoolDestroy, "cuMemPoolDestroy", 11020, (CUmemoryPool pool))
CU_ABI_PTSZ(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020,
            (CUdeviceptr * pointer, size_t bytes, CUmemoryPool pool, CUstream stream))
CU_ABI_PTSZ(cuMemFreeAsync, "cuMemFreeAsync", 11020, (CUdeviceptr pointer, CUstream stream))
CU_ABI(cuMemAdvise, "cuMemAdvise", 8000, (CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device))
CU_ABI(cuMemAdvise_v2, "cuMemAdvise", 12020,
       (CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation location))
CU_ABI_PTSZ(cuMemPrefetchAsync, "cuMemPrefetchAsync", 8000,
            (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream))
CU_ABI_PTSZ(cuMemPrefetchAsync_v2, "cuMemPrefetchAsync", 12020,
            (CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags, CUstream stream))
CU_ABI(cuIpcGetMemHandle, "cuIpcGetMemHandle", 4010, (CUipcMemHandle * handle, CUdeviceptr pointer))
CU_ABI(cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle", 11000,
       (CUdeviceptr * pointer, CUipcMemHandle handle, unsigned int flags))
CU_ABI(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", 4010, (CUdeviceptr pointer))
CU_ABI(cuPointerGetAttribute, "cuPointerGetAttribute", 4000,
       (void *data, CUpointer_attribute attribute, CUdeviceptr pointer))
CU_ABI(cuPointerGetAttributes, "cuPointerGetAttributes", 7000,
       (unsigned int count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer))
CU_ABI(cuPointerSetAttribute, "cuPointerSetAttribute", 6000,
       (const void *value, CUpointer_attribute attribute, CUdeviceptr pointer))

/* Copies and fills */
CU_ABI_PTDS(cuMemcpy, "cuMemcpy", 4000, (CUdeviceptr to, CUdeviceptr from, size_t bytes))
CU_ABI_PTDS(cuMemcpyPeer, "cuMemcpyPeer", 4000,
            (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes))
CU_ABI_PTDS(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 3020, (CUdeviceptr to, const void *from, size_t bytes))
CU_ABI_PTDS(cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020, (void *to, CUdeviceptr from, size_t bytes))
CU_ABI_PTDS(cuMemcpyDtoD_v2, "cuMemcpyDtoD", 3020, (CUdeviceptr to, CUdeviceptr from, size_t bytes))
CU_ABI_PTDS(cuMemcpy2D_v2, "cuMemcpy2D", 3020, (const CUDA_MEMCPY2D *copy))
CU_ABI_PTDS(cuMemcpy2DUnaligned_v2, "cuMemcpy2DUnaligned", 3020, (const CUDA_MEMCPY2D *copy))
CU_ABI_PTDS(cuMemcpy3D_v2, "cuMemcpy3D", 3020, (const CUDA_MEMCPY3D *copy))
CU_ABI_PTSZ(cuMemcpyAsync, "cuMemcpyAsync", 4000, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpyPeerAsync, "cuMemcpyPeerAsync", 4000,
            (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
             CUstream stream))
CU_ABI_PTSZ(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020,
            (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020,
            (void *to, CUdeviceptr from, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync", 3020,
            (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpy2DAsync_v2, "cuMemcpy2DAsync", 3020, (const CUDA_MEMCPY2D *copy, CUstream stream))
CU_ABI_PTSZ(cuMemcpy3DAsync_v2, "cuMemcpy3DAsync", 3020, (const CUDA_MEMCPY3D *copy, CUstream stream))
CU_ABI_PTDS(cuMemsetD8_v2, "cuMemsetD8", 3020, (CUdeviceptr to, unsigned char value, size_t count))
CU_ABI_PTDS(cuMemsetD16_v2, "cuMemsetD16", 3020, (CUdeviceptr to, unsigned short value, size_t count))
CU_ABI_PTDS(cuMemsetD32_v2, "cuMemsetD32", 3020, (CUdeviceptr to, unsigned int value, size_t count))
CU_ABI_PTDS(cuMemsetD2D8_v2, "cuMemsetD2D8", 3020,
            (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height))
CU_ABI_PTDS(cuMemsetD2D16_v2, "cuMemsetD2D16", 3020,
            (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height))
CU_ABI_PTDS(cuMemsetD2D32_v2, "cuMemsetD2D32", 3020,
            (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height))
CU_ABI_PTSZ(cuMemsetD8Async, "cuMemsetD8Async", 3020,
            (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))
CU_ABI_PTSZ(cuMemsetD16Async, "cuMemsetD16Async", 3020,
            (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))
CU_ABI_PTSZ(cuMemsetD32Async, "cuMemsetD32Async", 3020,
            (CUdeviceptr to, unsigned int value, size_t count, CUstream stream))
CU_ABI_PTSZ(cuMemsetD2D8Async, "cuMemsetD2D8Async", 3020,
            (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream))
CU_ABI_PTSZ(cuMemsetD2D16Async, "cuMemsetD2D16Async", 3020,
            (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream))
CU_ABI_PTSZ(cuMemsetD2D32Async, "cuMemsetD2D32Async", 3020,
            (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream))

#ifndef CU_ABI_BASIC_ONLY
CU_ABI(cuLaunch, "cuLaunch", 2000, (CUfunction function))
CU_ABI(cuLaunchGrid, "cuLaunchGrid", 2000, (CUfunction function, int width, int height))
CU_ABI(cuLaunchGridAsync, "cuLaunchGridAsync", 2000, (CUfunction function, int width, int height, CUstream stream))
CU_ABI(cuLaunchCooperativeKernelMultiDevice, "cuLaunchCooperativeKernelMultiDevice", 9000,
       (CUDA_LAUNCH_PARAMS * launches, unsigned int count, unsigned int flags))
CU_ABI_PTSZ(cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph", 12030,
            (CUstream stream, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
             size_t count, CUstreamCaptureMode mode))
CU_ABI(cuGraphAddNode, "cuGraphAddNode", 12020,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraphNodeParams *params))
CU_ABI(cuGraphAddNode_v2, "cuGraphAddNode", 12030,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
        CUgraphNodeParams *params))
CU_ABI(cuGraphAddChildGraphNode, "cuGraphAddChildGraphNode", 10000,
       (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child))
CU_ABI_PTSZ(cuStreamWaitValue32_v2, "cuStreamWaitValue32", 11070,
            (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))
CU_ABI_PTSZ(cuStreamWaitValue64_v2, "cuStreamWaitValue64", 11070,
            (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))
CU_ABI_PTSZ(cuStreamWriteValue32_v2, "cuStreamWriteValue32", 11070,
            (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))
CU_ABI_PTSZ(cuStreamWriteValue64_v2, "cuStreamWriteValue64", 11070,
            (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))
CU_ABI_PTDS(cuMemcpyDtoA_v2, "cuMemcpyDtoA", 3020, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes))
CU_ABI_PTDS(cuMemcpyAtoD_v2, "cuMemcpyAtoD", 3020, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes))
CU_ABI_PTDS(cuMemcpyHtoA_v2, "cuMemcpyHtoA", 3020, (CUarray to, size_t offset, const void *from, size_t bytes))
CU_ABI_PTDS(cuMemcpyAtoH_v2, "cuMemcpyAtoH", 3020, (void *to, CUarray from, size_t offset, size_t bytes))
CU_ABI_PTDS(cuMemcpyAtoA_v2, "cuMemcpyAtoA", 3020,
            (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes))
CU_ABI_PTDS(cuMemcpy3DPeer, "cuMemcpy3DPeer", 4000, (const CUDA_MEMCPY3D_PEER *copy))
CU_ABI_PTSZ(cuMemcpyHtoAAsync_v2, "cuMemcpyHtoAAsync", 3020,
            (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpyAtoHAsync_v2, "cuMemcpyAtoHAsync", 3020,
            (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream))
CU_ABI_PTSZ(cuMemcpy3DPeerAsync, "cuMemcpy3DPeerAsync", 4000, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream))
CU_ABI_PTSZ(cuMemcpyBatchAsync, "cuMemcpyBatchAsync", 12080,
            (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count, CUmemcpyAttributes *attributes,
             size_t *indices, size_t attribute_count, size_t *failed, CUstream stream))
CU_ABI_PTSZ(cuMemcpyBatchAsync_v2, "cuMemcpyBatchAsync", 13000,
            (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count, CUmemcpyAttributes *attributes,
             size_t *indices, size_t attribute_count, CUstream stream))
CU_ABI_PTSZ(cuMemcpy3DBatchAsync, "cuMemcpy3DBatchAsync", 12080,
            (size_t count, CUDA_MEMCPY3D_BATCH_OP *operations, size_t *failed, unsigned long long flags,
             CUstream stream))
CU_ABI_PTSZ(cuMemcpy3DBatchAsync_v2, "cuMemcpy3DBatchAsync", 13000,
            (size_t count, CUDA_MEMCPY3D_BATCH_OP *operations, unsigned long long flags, CUstream stream))
CU_ABI_PTSZ(cuMemPrefetchBatchAsync, "cuMemPrefetchBatchAsync", 13000,
            (CUdeviceptr * pointers, size_t *bytes, size_t count, CUmemLocation *locations, size_t *indices,
             size_t location_count, unsigned long long flags, CUstream stream))
CU_ABI_PTSZ(cuMemDiscardBatchAsync, "cuMemDiscardBatchAsync", 13000,
            (CUdeviceptr * pointers, size_t *bytes, size_t count, unsigned long long flags, CUstream stream))
CU_ABI_PTSZ(cuMemDiscardAndPrefetchBatchAsync, "cuMemDiscardAndPrefetchBatchAsync", 13000,
            (CUdeviceptr * pointers, size_t *bytes, size_t count, CUmemLocation *locations, size_t *indices,
             size_t location_count, unsigned long long flags, CUstream stream))
CU_ABI_PTSZ(cuMemBatchDecompressAsync, "cuMemBatchDecompressAsync", 12060,
            (CUmemDecompressParams * params, size_t count, unsigned int flags, size_t *error_index, CUstream stream))
CU_ABI_PTSZ(cuMemMapArrayAsync, "cuMemMapArrayAsync", 11010,
            (CUarrayMapInfo * maps, unsigned int count, CUstream stream))
#endif

#undef CU_ABI
#undef CU_ABI_PTSZ
#undef CU_ABI_PTDS
