import { DEFAULT_PATHS, PATHS } from './paths.ts';

const FIXED: ReadonlySet<string> = new Set([
  ...Object.values(PATHS),
  ...Object.keys(DEFAULT_PATHS),
]);

/** Paths that are followed by the path of a resource. */
const DOCUMENTS = [PATHS.protectedResource, PATHS.authorizationServer, PATHS.openIdConfiguration];

/**
 * Returns the path of an endpoint with placeholders for what differs between requests; undefined if no
 * endpoint has the path.
 */
export function pathTemplate(path: string): string | undefined {
  if (FIXED.has(path)) return path;
  if (path.startsWith(PATHS.callbackOfProvider)) return `${PATHS.callbackOfProvider}{provider}`;
  const document = DOCUMENTS.find((name) => path.startsWith(`${name}/`));
  return document && `${document}/{resource}`;
}
