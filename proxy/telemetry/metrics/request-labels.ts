/** The methods with a label of their own; clients choose, and so all others are `other`. */
const METHODS: ReadonlyMap<string, string> = new Map(
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((name) => [name, name]),
);

/** Returns the label of a request's method; `other` where the head could not be parsed. */
export function methodLabel(method: string | undefined): string {
  return METHODS.get(method ?? '') ?? 'other';
}

/** By the first digit of a status. */
const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

const CLASS_SIZE = 100;

/** Returns the class of a status as a number from 0, which is for no response. */
export function statusClass(status: number | undefined): number {
  return status === undefined ? 0 : Math.floor(status / CLASS_SIZE);
}

/** Returns the label of a class of status. */
export function statusLabel(statusClass: number): string {
  return STATUS_CLASSES[statusClass] ?? 'none';
}
