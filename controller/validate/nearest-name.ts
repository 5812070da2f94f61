/** The known name that a typo most likely means; undefined if no name is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let nearestDistance = Math.max(2, Math.floor(name.length / 2)) + 1;
  for (const candidate of known) {
    const distance = editDistance(plain(name), plain(candidate));
    if (distance >= nearestDistance) continue;
    nearest = candidate;
    nearestDistance = distance;
  }
  return nearest;
}

/** Spellings that differ only in case and separators are the same name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '');
}

/** The Levenshtein distance: letters to add, drop or change. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_value, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    let diagonal = index;
    let left = index + 1;
    const next = [left];
    for (let column = 1; column < row.length; column += 1) {
      const above = row[column] ?? 0;
      const changed = diagonal + (letter === to[column - 1] ? 0 : 1);
      left = Math.min(left + 1, above + 1, changed);
      next.push(left);
      diagonal = above;
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
