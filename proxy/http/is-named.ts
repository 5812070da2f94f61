/** The bit that distinguishes letters of ASCII in lower case. */
const LOWER_CASE = 0x20;

/** Returns whether the name of a header field is this one, whatever its case; `name` is in lower case. */
export function isNamed(field: string, name: string): boolean {
  return (
    field.length === name.length &&
    (field === name || (mayBeNamed(field, name) && field.toLowerCase() === name))
  );
}

/** Spares most names of the same length a copy in lower case. */
function mayBeNamed(field: string, name: string): boolean {
  return (field.charCodeAt(0) | LOWER_CASE) === name.charCodeAt(0);
}
