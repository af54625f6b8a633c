#pragma once

// Declarations of the few names of Metal that src/backends/metal/metal_device.mm uses; see
// Foundation/Foundation.h beside this folder for what that is good for. Values are left out where
// the check does not depend on them.

#import <Foundation/Foundation.h>

#define __MAC_15_0 150000  // as Availability.h of the SDK of macOS 15

enum MTLResourceOptions : NSUInteger { MTLResourceStorageModeShared = 0 };
enum MTLPipelineOption : NSUInteger { MTLPipelineOptionNone = 0 };
enum MTLGPUFamily : NSInteger { MTLGPUFamilyApple7 = 1007 };
enum MTLLanguageVersion : NSUInteger { MTLLanguageVersion3_1 = (3 << 16) + 1 };
enum MTLMathMode : NSInteger { MTLMathModeSafe = 0 };
enum MTLMathFloatingPointFunctions : NSInteger { MTLMathFloatingPointFunctionsPrecise = 1 };
enum MTLDispatchType : NSUInteger { MTLDispatchTypeSerial = 0 };
enum MTLCommandBufferStatus : NSUInteger { MTLCommandBufferStatusCompleted = 4 };
enum MTLBindingType : NSInteger { MTLBindingTypeBuffer = 0 };
enum MTLBindingAccess : NSUInteger { MTLBindingAccessReadOnly = 0 };

struct MTLSize {
  NSUInteger width, height, depth;
};
MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth);

@protocol MTLBuffer <NSObject>
- (void*)contents;
@end

@protocol MTLFunction <NSObject>
@end

@protocol MTLLibrary <NSObject>
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
@end

@protocol MTLBinding <NSObject>
@property(readonly) NSString* name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@end

@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferDataSize;
@end

@interface MTLComputePipelineReflection : NSObject
@property(readonly) NSArray<id<MTLBinding>>* bindings;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@end

@protocol MTLComputeCommandEncoder <NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid
       threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)endEncoding;
@end

@protocol MTLCommandBuffer <NSObject>
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError* error;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type;
- (void)commit;
- (void)waitUntilCompleted;
@end

@protocol MTLCommandQueue <NSObject>
- (id<MTLCommandBuffer>)commandBuffer;
@end

@interface MTLCompileOptions : NSObject
@property(readwrite) BOOL fastMathEnabled;
@property(readwrite) MTLMathMode mathMode;
@property(readwrite) MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property(readwrite) MTLLanguageVersion languageVersion;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString* name;
@property(readonly) NSUInteger maxBufferLength;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* pointer, NSUInteger length))deallocator;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError* __autoreleasing*)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:(MTLComputePipelineReflection* __autoreleasing*)reflection
                                  error:(NSError* __autoreleasing*)error;
@end

id<MTLDevice> MTLCreateSystemDefaultDevice() __attribute__((ns_returns_retained));
