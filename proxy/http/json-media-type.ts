/** Returns whether a type is `application/json` or, if `suffix` is allowed, `application/*+json`. */
export function isJsonMediaType(
  contentType: string | undefined,
  { suffix }: { suffix: boolean },
): boolean {
  const mediaType = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json') return true;
  return suffix && /^application\/[\w.!#$&^-]+\+json$/.test(mediaType);
}
