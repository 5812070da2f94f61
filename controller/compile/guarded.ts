import { invalid, type CompileResult } from './compile-result.ts';

/**
 * Runs a step for one resource. An error, which is a bug of ours, makes only that resource invalid;
 * the others are still compiled. The message of the error is dropped: it may contain values.
 */
export function guarded<T>(pass: () => CompileResult<T>): CompileResult<T> {
  try {
    return pass();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return invalid('spec', 'InvalidSpec', `cannot be compiled: ${name}`);
  }
}
