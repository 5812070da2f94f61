import { UnavailableError } from '../../../errors/unavailable-error.ts';
import type { KeyKind } from './keys.ts';

/**
 * A record is there and does not open: it was sealed with a key this proxy lacks, was changed, or
 * was copied from another key.
 *
 * Not the same as a record that is not there. While sealing keys are being rotated a proxy may lack
 * the newest; to call a good refresh token invalid would make its client throw it away.
 */
export class UnreadableRecordError extends UnavailableError {
  override readonly name = 'UnreadableRecordError';

  constructor(kind: KeyKind) {
    super('record-unreadable', `a ${kind} record in Redis does not open with the sealing keys`);
  }
}
