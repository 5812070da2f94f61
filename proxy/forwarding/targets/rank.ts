import { hash } from 'node:crypto';

const HEX_DIGITS = 8;

/** Ranks are below this. */
export const RANKS = 2 ** 32;

/** A number that follows from a text alone, as good as random. */
export function rankOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, HEX_DIGITS), 16);
}

/** Makes one rank of two: another one where either is another (the finalizer of MurmurHash3). */
export function mixRanks(a: number, b: number): number {
  let mixed = a ^ b;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
