import { isOrigin, type Origin } from '../../shared/snapshot/origin.ts';

/** Makes an origin from text that a test writes. */
export function anOrigin(text: string): Origin {
  if (!isOrigin(text)) throw new Error(`${text} is not an origin`);
  return text;
}
