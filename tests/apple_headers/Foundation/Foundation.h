#pragma once

// Declarations of the few names of Foundation that src/backends/metal/metal_device.mm uses, written
// from the public documentation so that the file can be checked where there is no SDK
// (scripts/check_objcxx.sh). Nothing is built with this file: a Mac uses Apple's own header, which
// alone decides.

#include <cstddef>

using BOOL = bool;
using NSInteger = long;
using NSUInteger = unsigned long;
#define YES __objc_yes
#define NO __objc_no
#define nil nullptr

@protocol NSObject
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject>
+ (instancetype)alloc;
- (instancetype)init;
@end

struct NSFastEnumerationState {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
};

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)length;
@end

@interface NSArray<__covariant ObjectType> : NSObject <NSFastEnumeration>
@end

enum NSStringEncoding : NSUInteger { NSUTF8StringEncoding = 4 };

@interface NSString : NSObject
- (instancetype)initWithBytes:(const void*)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding;
@property(readonly) const char* UTF8String;
@end

@interface NSError : NSObject
@property(readonly, copy) NSString* localizedDescription;
@end
