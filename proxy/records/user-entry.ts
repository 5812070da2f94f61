/** Something that a user has, by its id. */
export interface UserEntry {
  readonly id: string;
}

/** A connection of a user: with the user, it is an `InternalTokenKey`. */
export interface UserConnection extends UserEntry {
  readonly routeId: string;
  readonly binding: string;
  /** For routes that no longer exist, so that the user can still disconnect. */
  readonly routeName: string;
}
