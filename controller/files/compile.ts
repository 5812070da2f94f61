import type { CompileResult, Resources } from '../compile/resources.ts';

/** The compiler, with its options. Pure. */
export type Compile = (resources: Resources) => CompileResult;
