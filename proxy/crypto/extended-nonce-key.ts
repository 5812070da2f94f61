import { createCipheriv } from 'node:crypto';

const BLOCK_BYTES = 16;
const NONCE_BYTES = 24;
const DERIVING_BYTES = 12;

/** The place of counter and label in a block. */
const PREFIX = Buffer.alloc(BLOCK_BYTES - DERIVING_BYTES);

/** x^7 + x^2 + x + 1, by which doubling in the field of CMAC reduces (NIST SP 800-38B, section 5.3). */
const REDUCTION = 0x87;

/** What one message is encrypted with by AES-256-GCM. */
export interface MessageKey {
  readonly key: Buffer;
  readonly iv: Buffer;
}

/**
 * A key of XAES-256-GCM (https://c2sp.org/XAES-256-GCM): each message has an AES-256-GCM key of its own,
 * derived from the first half of a random nonce of 24 bytes.
 *
 * Attack: under one AES-GCM key, two messages with the same nonce reveal their texts and let anyone forge.
 * Random nonces of 12 bytes limit a key to 2^32 messages (NIST SP 800-38D, section 8.3). Here the limit is
 * 2^80, which no gateway reaches.
 */
export class ExtendedNonceKey {
  static readonly nonceBytes = NONCE_BYTES;

  /** AES of single blocks, which keeps no state between them. */
  readonly #aes: { update(blocks: Buffer): Buffer };
  /** Both blocks that derive a key, but for the nonce. */
  readonly #blocks: Buffer;

  constructor(key: Buffer) {
    this.#aes = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    const subkey = doubled(this.#aes.update(Buffer.alloc(BLOCK_BYTES)));
    // NIST SP 800-108r1, section 4.1, with CMAC: counter, label "X", a zero byte, context.
    const counters = [1, 2].map((counter) => xor(subkey, Buffer.from([0, counter, 0x58, 0])));
    this.#blocks = Buffer.concat(counters);
  }

  /** Derives the key of the message with this nonce. */
  messageKeyOf(nonce: Buffer): MessageKey {
    if (nonce.length !== NONCE_BYTES) {
      throw new RangeError(`a nonce has ${String(NONCE_BYTES)} bytes`);
    }
    const context = nonce.subarray(0, DERIVING_BYTES);
    const half = Buffer.concat([PREFIX, context]);
    const blocks = xor(this.#blocks, Buffer.concat([half, half]));
    return { key: this.#aes.update(blocks), iv: nonce.subarray(DERIVING_BYTES) };
  }
}

/** Returns the first text, with as many bytes changed as the second one has. */
function xor(text: Buffer, mask: Buffer): Buffer {
  const changed = Buffer.from(text);
  for (const [index, byte] of mask.entries()) changed[index] = (changed[index] ?? 0) ^ byte;
  return changed;
}

function doubled(block: Buffer): Buffer {
  const bits = BigInt(`0x${block.toString('hex')}`) << 1n;
  const isReduced = bits >> 128n === 1n;
  const value = BigInt.asUintN(128, isReduced ? bits ^ BigInt(REDUCTION) : bits);
  return Buffer.from(value.toString(16).padStart(2 * BLOCK_BYTES, '0'), 'hex');
}
