/** Writes a number of things. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : several}`;
}
