import { Explainer, type ExplainerOptions } from '../../proxy/explain/explainer.ts';
import type { GivenUser } from '../../proxy/explain/claimed-authenticators.ts';
import { ProviderOfUserError } from '../../proxy/explain/provider-of-user.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../command-failure.ts';
import { describeRequest, type DescribedCredential } from './describe-request.ts';
import { fullRouteName } from './route-name.ts';
import { reportOf, type ExplainReport } from './report.ts';
import type { RequestDescription } from './request-description.ts';

/** A request and who makes it. Without a user and a token it is anonymous. */
export interface AskedRequest {
  readonly request: RequestDescription;
  readonly user?: GivenUser;
  readonly token?: string;
}

/** Explains requests to the routes of a snapshot. */
export class RequestExplainer implements Disposable {
  readonly #explainer: Explainer;
  readonly #snapshot: Snapshot;

  static async open(snapshot: Snapshot, options: ExplainerOptions): Promise<RequestExplainer> {
    return new RequestExplainer(await Explainer.open(snapshot, options), snapshot);
  }

  private constructor(explainer: Explainer, snapshot: Snapshot) {
    this.#explainer = explainer;
    this.#snapshot = snapshot;
  }

  /**
   * Explains a request with a description without problems. Throws `CommandFailure` if it cannot be made,
   * or is not for the route that it names.
   */
  async explain({ request: given, user, token }: AskedRequest): Promise<ExplainReport> {
    const described = withNamespace(given);
    const { configuration } = this.#explainer;
    const destination = { snapshot: this.#snapshot, configuration };
    const request = describeRequest(described, destination, credentialOf({ user, token }));
    const time = described.time === undefined ? Date.now() : Date.parse(described.time);
    const explanation = await this.#explainer.explain({ request, user, time }).catch(asFailure);
    const report = reportOf(explanation, request, time);
    const { route: asked } = described;
    const found = report.route?.name;
    if (asked === undefined || found === undefined || found === asked) return report;
    throw new CommandFailure(`the request is for Route ${found}, and not for ${asked}`);
  }

  [Symbol.dispose](): void {
    this.#explainer[Symbol.dispose]();
  }
}

function withNamespace(described: RequestDescription): RequestDescription {
  const { route } = described;
  return route === undefined ? described : { ...described, route: fullRouteName(route) };
}

function asFailure(error: unknown): never {
  throw error instanceof ProviderOfUserError ? new CommandFailure(error.message) : error;
}

/** Returns the credential that a request has in place of its user. */
function credentialOf({
  user,
  token,
}: {
  readonly user: GivenUser | undefined;
  readonly token: string | undefined;
}): DescribedCredential {
  if (token !== undefined) return { kind: 'token', token };
  return { kind: user === undefined ? 'none' : 'given' };
}
