const SECOND = 1000;
const UNITS = [
  { name: 'd', ms: 86_400 * SECOND, from: 2 },
  { name: 'h', ms: 3600 * SECOND, from: 2 },
  { name: 'm', ms: 60 * SECOND, from: 2 },
] as const;

/** Writes a time span in one unit, as `kubectl` does: `90s`, `5m`, `3d`. A span that is not known is `-`. */
export function formatAge(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  const unit = UNITS.find((candidate) => ms >= candidate.from * candidate.ms);
  const count = Math.max(0, Math.floor(ms / (unit?.ms ?? SECOND)));
  return `${String(count)}${unit?.name ?? 's'}`;
}
