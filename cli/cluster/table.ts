import { withoutControls } from '../without-controls.ts';

const GAP = '   ';

/** Writes rows as columns, as `kubectl` does. The first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(withoutControls));
  const widths = shown.reduce<number[]>(
    (found, row) => row.map((cell, index) => Math.max(cell.length, found[index] ?? 0)),
    [],
  );
  const lines = shown.map((row) =>
    row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(GAP),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
