/** The facts about a request that the criteria of a policy may test. */
export interface PolicyInput {
  /** Undefined if nobody is signed in. */
  readonly identity: PolicyUser | undefined;
  readonly method: string;
  /** Raw path of the request, without the query. */
  readonly path: string;
  /** Address of the client, as `trustedProxies` decide it; empty if the connection is gone. */
  readonly clientAddress: string;
  /** When the request is decided: milliseconds since the epoch. */
  readonly time: number;
  /** Whether the request is a CORS preflight, which has no credentials. */
  readonly isPreflight: boolean;
  /** Method of the JSON-RPC message; absent for a response, and for a request without a message. */
  readonly mcpMethod: string | undefined;
  /** `params.name` of a `tools/call`; absent for every other request. */
  readonly toolName: string | undefined;
  /** `params.arguments` of a `tools/call`; absent for every other request. */
  readonly toolArguments: Readonly<Record<string, unknown>> | undefined;
  /** URIs of the resources that the message is about; empty if it is about none. */
  readonly resources: readonly string[];
  /** Name of the prompt that the message is about. */
  readonly prompt: string | undefined;
}

/** What a policy may know about a user. */
export interface PolicyUser {
  readonly subject: string;
  readonly email?: string;
  readonly groups: readonly string[];
  /** Present if nothing says which groups the user has. */
  readonly groupsAreUnknown?: true;
  readonly claims: Readonly<Record<string, unknown>>;
}
