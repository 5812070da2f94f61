/** Strangers choose some fields, such as paths, and pay nothing for the disks that logs fill. */
const MAX_LENGTH = 2_048;

/** Returns a text for a log record: if it is longer than `maxLength`, its beginning and `...`. */
export function cutText(text: string, maxLength = MAX_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}...`;
}
