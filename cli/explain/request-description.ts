/** A request as the flags of `gatehouse explain` or a case of `gatehouse policy test` describe it. */
export interface RequestDescription {
  /** `NAMESPACE/NAME` of the Route that it is for. */
  readonly route?: string;
  readonly url?: string;
  readonly method?: string;
  /** The path of the URL, with a query or without. Only with `route`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clientAddress?: string;
  /** When it is made, in RFC 3339. Now, if absent. */
  readonly time?: string;
  /** Method of a JSON-RPC message. */
  readonly mcpMethod?: string;
  readonly tool?: string;
  /** Arguments of the tool or the prompt. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** URI of a resource. */
  readonly resource?: string;
  readonly prompt?: string;
}

/** A user as the flags or a case describe one. */
export interface UserDescription {
  /** The `sub` of the identity provider. The `sub` of the claims or the email address, if absent. */
  readonly user?: string;
  readonly email?: string;
  /** Wherever the identity provider puts them. The claims say it, if absent. */
  readonly groups?: readonly string[];
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** One thing wrong with a member of a description. */
export interface DescriptionProblem<Description> {
  readonly member: keyof Description & string;
  readonly message: string;
}
