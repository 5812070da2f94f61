import type { Report } from '../language/criterion-definition.ts';

/** The ends of a range, in a unit of its criterion. */
interface Bounds {
  readonly after?: number;
  readonly before?: number;
}

/** How one end is written. */
interface BoundForm {
  /** Undefined if a text is not one. */
  readonly read: (text: string) => number | undefined;
  /** What a problem says that it must be. */
  readonly description: string;
}

/** Reads the members `after` and `before` of an operand, at least one of them. Null after a report. */
export function readBounds(
  members: Readonly<Record<string, unknown>>,
  { read, description }: BoundForm,
  report: Report,
): Bounds | null {
  const names = (['after', 'before'] as const).filter((name) => members[name] !== undefined);
  if (names.length === 0) return report('must have after or before');
  const bounds = names.map((name) => {
    const written = members[name];
    const bound = typeof written === 'string' ? read(written) : undefined;
    return [name, bound ?? report(`must be ${description}`, [name])] as const;
  });
  return bounds.some(([, bound]) => bound === null) ? null : Object.fromEntries(bounds);
}

/** Writes ends as members of an operand. */
export function writeBounds(
  { after, before }: Bounds,
  write: (bound: number) => string,
): { readonly after?: string; readonly before?: string } {
  return {
    ...(after !== undefined && { after: write(after) }),
    ...(before !== undefined && { before: write(before) }),
  };
}
