import { isOrigin, type Origin } from '../../shared/snapshot/origin.ts';

/** An origin that a test spells. */
export function anOrigin(text: string): Origin {
  if (!isOrigin(text)) throw new Error(`${text} is not an origin`);
  return text;
}
