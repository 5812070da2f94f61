/** RFC 6749, section 5.2, defines the characters; a code longer than any real one is not one. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/** Returns the error code of another server as logs and messages show it: none that no RFC allows. */
export function shownErrorCode(code: string): string {
  return ERROR_CODE.test(code) ? code : 'malformed error code';
}
