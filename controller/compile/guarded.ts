import { invalid, type CompileResult } from './compile-result.ts';

/**
 * Runs a step for one resource. An error is a bug of ours; it makes only that resource invalid, and
 * the others are still compiled. The message of the error is dropped: it may contain values.
 */
export function guarded<T>(step: () => CompileResult<T>): CompileResult<T> {
  try {
    return step();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return invalid('spec', 'InvalidSpec', `cannot be compiled: ${name}`);
  }
}
