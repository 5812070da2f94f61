import type { Sealed, Sealer } from '../../../crypto/sealer.ts';
import type { Guard } from './guards.ts';
import type { KeyKind } from './keys.ts';
import { UnreadableRecordError } from './unreadable-record-error.ts';

/** Keeps records apart from everything else that is sealed with the same keys. */
const CONTEXT = 'redis';

/** Seals the records of one kind as JSON. One opens only at the place it was sealed for. */
export class RecordSeal<Value> {
  readonly #sealer: Sealer;
  readonly #kind: KeyKind;
  readonly #isValue: Guard<Value>;

  constructor(sealer: Sealer, kind: KeyKind, isValue: Guard<Value>) {
    this.#sealer = sealer;
    this.#kind = kind;
    this.#isValue = isValue;
  }

  /** `place` is the whole key, and the field where the key is a hash. */
  seal(place: string, value: Value): Sealed {
    return this.#sealer.seal(JSON.stringify(value), `${CONTEXT} ${place}`);
  }

  /** False when it should be sealed again, for the key that sealed it will be dropped. */
  isFresh(sealed: string): boolean {
    return this.#sealer.isSealedByFirst(sealed);
  }

  /** Throws an `UnreadableRecordError` for what was not sealed here, or holds something else. */
  open(place: string, sealed: string): Value {
    const text = this.#sealer.open(sealed, `${CONTEXT} ${place}`);
    const value = text === null ? undefined : parse(text);
    if (!this.#isValue(value)) throw new UnreadableRecordError(this.#kind);
    return value;
  }
}

/** Undefined when it is not JSON: the parser's message would quote the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
