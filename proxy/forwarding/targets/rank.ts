import { hash } from 'node:crypto';

const HEX_DIGITS = 8;

/** Number of ranks. */
export const RANKS = 2 ** 32;

/** Returns a number below `RANKS`, evenly distributed, that depends only on a text. */
export function rankOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, HEX_DIGITS), 16);
}

/** Combines two ranks into one that differs if either differs (the finalizer of MurmurHash3). */
export function mixRanks(a: number, b: number): number {
  let mixed = a ^ b;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
