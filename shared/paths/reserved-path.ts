import { loosePath } from './loose-path.ts';

/** The prefix of the gateway's own endpoints on every host (specification: Endpoints). */
export const RESERVED_PREFIX = '/.gateway';

/**
 * Returns whether a path is `/.gateway` or below it.
 *
 * These paths belong to the gateway on every host, in every spelling that some upstream reads as them:
 * encoded once or twice, in capitals, with path parameters, after empty segments and dot segments.
 */
export function isReservedPath(path: string): boolean {
  if (!MAY_BE_RESERVED.test(path)) return false;
  const once = loosePath(path);
  return RESERVED.test(once) || (once.includes('%') && RESERVED.test(loosePath(once)));
}

/** Nearly every path begins with a letter or a digit, and needs no second look. */
const MAY_BE_RESERVED = /^(?:\/[./;%\\]|[%\\])/;

const RESERVED = /^(?:\/\.{0,2})*\/\.gateway(?:\/|$)/;
