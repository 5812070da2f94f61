import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';

/** Thrown for resources that can be served alone, but not beside others of the same snapshot. */
export class UnservableError extends Error {
  override readonly name = 'UnservableError';
  readonly rejected: readonly RejectedResource[];

  constructor(rejected: readonly RejectedResource[]) {
    super(rejected.map(({ key, message }) => `${key}: ${message}`).join('; '));
    this.rejected = rejected;
  }
}
