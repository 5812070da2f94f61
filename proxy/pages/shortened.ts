const MAX_NAME_LENGTH = 80;

/** Returns a name, shortened so that it cannot push the rest off the page. */
export function shortened(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`;
}
