/** Returns a path without the slash at its end, if it has one. */
export function withoutFinalSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
