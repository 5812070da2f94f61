/** A resource that this proxy cannot serve. */
export interface ResourceFault {
  readonly key: string;
  /** For operators; holds nothing secret. */
  readonly message: string;
}

/** Thrown for resources that each could be served, and cannot beside others of the same snapshot. */
export class UnservableError extends Error {
  override readonly name = 'UnservableError';
  readonly faults: readonly ResourceFault[];

  constructor(faults: readonly ResourceFault[]) {
    super(faults.map(({ key, message }) => `${key}: ${message}`).join('; '));
    this.faults = faults;
  }
}
