import { invalid, type CompileResult } from './compile-result.ts';

/**
 * What a pass makes of one resource, whatever happens: a problem of ours that shows with one resource
 * refuses that one, and the others go on. Messages of errors may hold values of the resource.
 */
export function guarded<T>(pass: () => CompileResult<T>): CompileResult<T> {
  try {
    return pass();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return invalid('spec', 'InvalidSpec', `cannot be compiled: ${name}`);
  }
}
