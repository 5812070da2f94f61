import { refused, type Outcome } from './outcome.ts';

/**
 * What a pass makes of one resource, whatever happens: a fault of ours that shows with one resource
 * refuses that one, and the others go on. Messages of errors may hold values of the resource.
 */
export function guarded<T>(pass: () => Outcome<T>): Outcome<T> {
  try {
    return pass();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return refused('spec', 'InvalidSpec', `cannot be compiled: ${name}`);
  }
}
