import type { IncomingMessage, ServerResponse } from 'node:http';

import { authorize, authorizePath, isOpenPath, MASTERS } from './authorization.ts';
import { discover } from './discovery.ts';
import type { Faults } from './faults.ts';
import { JSON_TYPE, readBody } from './request-body.ts';
import { requestInfoOf, type RequestInfo } from './request-info.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import type { ResourceRequests } from './resource-requests.ts';
import { sendError, sendJson, sendText } from './send.ts';
import { methodNotAllowed, StatusError } from './status-error.ts';
import type { Store } from './store.ts';
import { requestToken, reviewToken } from './token-reviews.ts';
import {
  API_AUDIENCE,
  KEY_SET_PATH,
  type Authenticated,
  type ServiceAccountTokens,
  type User,
} from './tokens.ts';

export interface ApiServerParts {
  readonly store: Store;
  readonly definitions: readonly ResourceDefinition[];
  readonly resources: ResourceRequests;
  readonly tokens: ServiceAccountTokens;
  readonly faults: Faults;
  /** Token of the administrator. */
  readonly adminToken: string;
  readonly now: () => number;
}

const KEY_SET_TYPE = 'application/jwk-set+json';

const ADMIN: User = {
  username: 'admin',
  uid: 'admin',
  groups: [MASTERS, 'system:authenticated'],
  extra: {},
};

/** A request within the API server. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly user: User;
}

/** Answers requests as an API server does: authenticates, authorizes, and reads or writes objects. */
export class ApiServer {
  readonly #parts: ApiServerParts;

  constructor(parts: ApiServerParts) {
    this.#parts = parts;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', 'https://localhost');
      const user = await this.#userOf(request);
      await this.#answer({ request, response, url, user });
    } catch (error) {
      sendError(response, error);
    }
  }

  async #userOf({ headers }: IncomingMessage): Promise<User> {
    const [, token = ''] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
    try {
      const { user } = await this.#authenticate(token, [API_AUDIENCE]);
      return user;
    } catch {
      throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    }
  }

  async #authenticate(token: string, audiences: readonly string[]): Promise<Authenticated> {
    if (token === this.#parts.adminToken) return { user: ADMIN, audiences };
    return await this.#parts.tokens.authenticate(token, audiences);
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, url, user } = exchange;
    const { store, tokens, faults, definitions } = this.#parts;
    const method = request.method ?? 'GET';
    const info = requestInfoOf(method, url);
    const { pathname } = url;
    if (info !== undefined) faults.requests.push(logEntry(user, info));
    else if (!isOpenPath(method, pathname)) faults.requests.push(pathEntry(user, method, pathname));
    if (faults.isHanging) return;
    faults.maybeFail();
    if (info !== undefined) {
      authorize(store, user, info);
      await this.#answerResource(exchange, info);
      return;
    }
    authorizePath(store, user, method, pathname);
    if (pathname === KEY_SET_PATH) assertAccepts(request, KEY_SET_TYPE);
    const found = tokens.documentAt(pathname) ?? discover(pathname, definitions);
    if (found === undefined) {
      sendText(response, 404, '404 page not found\n');
      return;
    }
    if (typeof found === 'string') {
      sendText(response, 200, found);
      return;
    }
    sendJson(response, 200, JSON.stringify(found));
  }

  async #answerResource({ request, response }: Exchange, info: RequestInfo): Promise<void> {
    const { store, tokens, resources, definitions, now } = this.#parts;
    if (info.group === 'authentication.k8s.io' && info.resource === 'tokenreviews') {
      if (info.verb !== 'create') throw methodNotAllowed();
      const body = await readBody(request, [JSON_TYPE]);
      const review = await reviewToken(body, (...given) => this.#authenticate(...given));
      sendJson(response, 201, JSON.stringify(review));
      return;
    }
    const definition = definitions.find((candidate) => isAbout(info, candidate));
    if (definition === undefined) {
      this.#refuseUnknown(response, info);
      return;
    }
    if (info.subresource === 'token' && definition.plural === 'serviceaccounts') {
      if (info.verb !== 'create') throw methodNotAllowed();
      const body = await readBody(request, [JSON_TYPE]);
      const answer = await requestToken(store, tokens, info, { body, now: now() });
      sendJson(response, 201, JSON.stringify(answer));
      return;
    }
    assertServed(info, definition);
    assertAcceptsJson(request);
    await resources.answer({ request, response, definition, info });
  }

  /** A group that does not exist is a path that does not exist. */
  #refuseUnknown(response: ServerResponse, { group, version }: RequestInfo): void {
    const isGroupKnown = this.#parts.definitions.some(
      (definition) =>
        !definition.custom && definition.group === group && definition.version === version,
    );
    if (isGroupKnown) throw resourceNotFound();
    sendText(response, 404, '404 page not found\n');
  }
}

function logEntry(user: User, info: RequestInfo): Faults['requests'][number] {
  const { verb, group, resource, subresource, namespace, name } = info;
  return {
    user: user.username,
    verb,
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace,
    name,
  };
}

function assertAccepts({ headers }: IncomingMessage, type: string): void {
  if (headers.accept?.includes(type) === true) return;
  throw new StatusError(406, 'NotAcceptable', 'Not Acceptable');
}

/** A path that is not a resource stands in place of one. */
function pathEntry(user: User, method: string, path: string): Faults['requests'][number] {
  const verb = method.toLowerCase();
  return { user: user.username, verb, group: '', resource: path, namespace: '', name: '' };
}

function isAbout(info: RequestInfo, { group, version, plural }: ResourceDefinition): boolean {
  return info.group === group && info.version === version && info.resource === plural;
}

function assertServed({ verb, subresource }: RequestInfo, definition: ResourceDefinition): void {
  if (subresource === '') return;
  if (subresource !== 'status' || !definition.hasStatus) throw resourceNotFound();
  if (!['get', 'update', 'patch'].includes(verb)) throw methodNotAllowed();
}

function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

function assertAcceptsJson({ headers }: IncomingMessage): void {
  const { accept = '*/*' } = headers;
  if (/application\/json|application\/\*|\*\/\*/.test(accept)) return;
  const message =
    'only the following media types are accepted: application/json, application/json;stream=watch';
  throw new StatusError(406, 'NotAcceptable', message);
}
