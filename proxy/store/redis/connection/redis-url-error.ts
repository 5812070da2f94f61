/** Thrown for a malformed Redis URL. The message never quotes what may be part of a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError';
}
