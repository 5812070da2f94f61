/** The place where a field of a resource was written, if it differs from the field's path. */
export interface SourcePlace {
  /** `spec.cookie.expiration` */
  readonly field: string;
  /** `cookie_expiration`, or the name of an environment variable. */
  readonly written: string;
  readonly isEnvironment?: true;
}

/** A path as its author wrote it. */
export interface WrittenPath {
  readonly path: string;
  readonly isEnvironment: boolean;
}

/** Converts the path of a field to what its author wrote, by the longest origin that contains it. */
export function writtenPath(field: string, origins: readonly SourcePlace[]): WrittenPath {
  let nearest: SourcePlace | undefined;
  for (const origin of origins) {
    if (!isWithin(field, origin.field)) continue;
    if (nearest === undefined || origin.field.length >= nearest.field.length) nearest = origin;
  }
  if (nearest === undefined) return { path: field, isEnvironment: false };
  if (nearest.isEnvironment === true) return { path: nearest.written, isEnvironment: true };
  const rest = field.slice(nearest.field.length);
  return {
    path: nearest.written === '' ? rest.replace(/^\./, '') : nearest.written + rest,
    isEnvironment: false,
  };
}

function isWithin(field: string, ancestor: string): boolean {
  if (!field.startsWith(ancestor)) return false;
  const next = field[ancestor.length];
  return next === undefined || next === '.' || next === '[';
}
