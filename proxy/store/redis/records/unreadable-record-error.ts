import { UnavailableError } from '../../../errors/unavailable-error.ts';
import type { KeyKind } from './keys.ts';

/**
 * Thrown if a record does not open: it was sealed with a key that this proxy lacks, was changed, or
 * was copied from a different key of Redis.
 *
 * The record is not absent. While sealing keys are rotated a proxy may lack the newest one; to call
 * a valid refresh token invalid would make its client discard it.
 */
export class UnreadableRecordError extends UnavailableError {
  override readonly name = 'UnreadableRecordError';

  constructor(kind: KeyKind) {
    super('record-unreadable', `a ${kind} record in Redis does not open with the sealing keys`);
  }
}
