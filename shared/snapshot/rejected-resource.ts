/** A resource of a snapshot that a proxy cannot serve. */
export interface RejectedResource {
  readonly key: string;
  /** Why, for operators; holds nothing secret. */
  readonly message: string;
}
