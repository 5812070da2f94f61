/** Returns the scheme of an origin. */
export function schemeOf(origin: string): 'http' | 'https' {
  return origin.startsWith('https:') ? 'https' : 'http';
}
