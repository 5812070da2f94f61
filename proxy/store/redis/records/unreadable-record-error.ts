import { UnavailableError } from '../../../errors/unavailable-error.ts';
import type { KeyKind } from './keys.ts';

/**
 * Thrown if a record does not open: it was sealed with a key that this proxy lacks, was changed, or
 * was copied from a different key of Redis.
 *
 * The record does not count as absent. While sealing keys are rotated, a proxy may lack the newest
 * one; if it refused a valid refresh token, the client would discard that token.
 */
export class UnreadableRecordError extends UnavailableError {
  override readonly name = 'UnreadableRecordError';

  constructor(kind: KeyKind) {
    super('record-unreadable', `a ${kind} record in Redis does not open with the sealing keys`);
  }
}
