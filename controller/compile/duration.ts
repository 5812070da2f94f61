const MS_PER_UNIT = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

type Unit = keyof typeof MS_PER_UNIT;

/** Milliseconds of a valid duration such as `1h30m` (Gateway API, GEP-2257). */
export function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+)(ms|h|m|s)/g)];
  // The expression matches units only.
  return parts.reduce(
    (sum, [, digits, unit]) => sum + Number(digits) * MS_PER_UNIT[unit as Unit],
    0,
  );
}
