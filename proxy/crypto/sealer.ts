import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import { ExtendedNonceKey, type MessageKey } from './extended-nonce-key.ts';
import { deriveBytes, type SealingKey, type SealingKeys } from './sealing-key.ts';

const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;

/** Length of the nonces of AES-256-GCM. */
const SHORT_NONCE_BYTES = 12;

declare const isSealed: unique symbol;

/** A text that a `Sealer` of this process sealed. A sealed text from elsewhere is a plain string. */
export type Sealed = string & { readonly [isSealed]: true };

/** What is derived from a sealing key. Its id is part of everything that it seals. */
interface DerivedKey {
  readonly id: Buffer;
  readonly nonceBytes: number;
  readonly messageKeyOf: (nonce: Buffer) => MessageKey;
}

/**
 * Seals text so that only holders of the keys can read or change it (XAES-256-GCM). Each text has a key of
 * its own, so that no number of texts is too many for a sealing key.
 *
 * The first key seals, every key opens. The context is authenticated with the text, so that text
 * sealed for one purpose or record does not open for a different one.
 */
export class Sealer {
  readonly #first: DerivedKey;
  readonly #keys: ReadonlyMap<string, DerivedKey>;

  constructor(keys: SealingKeys) {
    this.#first = derive(keys[0]);
    const derived = [this.#first, ...keys.slice(1).map(derive), ...keys.map(deriveShortNonceKey)];
    this.#keys = new Map(derived.map((key) => [key.id.toString('hex'), key]));
  }

  /** Returns base64url of key id, nonce, ciphertext and tag. */
  seal(text: string, context: string): Sealed {
    const { id, nonceBytes, messageKeyOf } = this.#first;
    const nonce = randomBytes(nonceBytes);
    const { key, iv } = messageKeyOf(nonce);
    const cipher = createCipheriv(ALGORITHM, key, iv);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([id, nonce, body, cipher.getAuthTag()]);
    // The one place that makes the brand.
    return sealed.toString('base64url') as Sealed;
  }

  /**
   * Returns whether the first key sealed the text. If not, the text must be sealed again before its key is
   * removed.
   */
  isSealedByFirst(sealed: string): boolean {
    return Buffer.from(sealed, 'base64url').subarray(0, KEY_ID_BYTES).equals(this.#first.id);
  }

  /**
   * Returns whether a text names a key that this process does not have, such as one that was removed. For
   * the log only: anybody can write such a text.
   */
  isOfUnknownKey(sealed: string): boolean {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < KEY_ID_BYTES + SHORT_NONCE_BYTES + TAG_BYTES) return false;
    if (bytes.toString('base64url') !== sealed) return false;
    return !this.#keys.has(bytes.toString('hex', 0, KEY_ID_BYTES));
  }

  /** Returns the text; null if none of the keys sealed it for this context. */
  open(sealed: string, context: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    // Base64url has several spellings of one value; only one is accepted.
    if (bytes.length < KEY_ID_BYTES || bytes.toString('base64url') !== sealed) return null;
    const derived = this.#keys.get(bytes.toString('hex', 0, KEY_ID_BYTES));
    if (derived === undefined) return null;
    const textAt = KEY_ID_BYTES + derived.nonceBytes;
    if (bytes.length < textAt + TAG_BYTES) return null;
    const { key, iv } = derived.messageKeyOf(bytes.subarray(KEY_ID_BYTES, textAt));
    const decipher = createDecipheriv(ALGORITHM, key, iv);
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const body = bytes.subarray(textAt, -TAG_BYTES);
      return decipher.update(body, undefined, 'utf8') + decipher.final('utf8');
    } catch {
      // The tag does not match: the text was forged, or sealed for a different context.
      return null;
    }
  }
}

/** Returns the id of a key, which is part of everything it seals. It is not secret. */
export function sealingKeyId(key: SealingKey): string {
  return keyId(key).toString('hex');
}

function keyId(key: SealingKey): Buffer {
  return deriveBytes(key, 'gatehouse extended-nonce sealing key id', KEY_ID_BYTES);
}

function derive(key: SealingKey): DerivedKey {
  const secret = deriveBytes(key, 'gatehouse extended-nonce sealing key', KEY_BYTES);
  const extended = new ExtendedNonceKey(secret);
  return {
    id: keyId(key),
    nonceBytes: ExtendedNonceKey.nonceBytes,
    messageKeyOf: (nonce) => extended.messageKeyOf(nonce),
  };
}

/**
 * Opens what earlier releases sealed with one AES-256-GCM key for all texts. It has an id of its own, so
 * that no text is opened in a form in which it was not sealed; nothing is sealed with it.
 */
function deriveShortNonceKey(sealingKey: SealingKey): DerivedKey {
  const key = deriveBytes(sealingKey, 'gatehouse sealing key', KEY_BYTES);
  return {
    id: deriveBytes(sealingKey, 'gatehouse sealing key id', KEY_ID_BYTES),
    nonceBytes: SHORT_NONCE_BYTES,
    messageKeyOf: (iv) => ({ key, iv }),
  };
}
