import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomInt } from 'node:crypto';

import { listOf, listText, versionOf } from './lists.ts';
import { ObjectRemover } from './object-remover.ts';
import { ObjectWriter, type Written } from './object-writer.ts';
import {
  APPLY_PATCH,
  JSON_PATCH,
  JSON_TYPE,
  mediaTypeOf,
  MERGE_PATCH,
  readBody,
} from './request-body.ts';
import { isTrue, type RequestInfo, type Verb } from './request-info.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { sendJson } from './send.ts';
import { fieldSelectorOf, labelSelectorOf, type Selector } from './selectors.ts';
import { methodNotAllowed, notFound } from './status-error.ts';
import type { Store } from './store.ts';
import { failWatch, Watch, whyNotFrom } from './watching.ts';
import { assertFieldManager, isDryRun, placeOf, writeOptionsOf } from './write-options.ts';

const LEAST_WATCH_SECONDS = 1_800;

export interface ResourceRequestOptions {
  readonly now: () => number;
  readonly bookmarkIntervalMs: number;
  /** Whether a watch from a version that is too old gets a 410, and not an event. */
  readonly refusesExpiredWatches: boolean;
  /** Called with every watch that begins; the returned function is called when the watch has ended. */
  readonly onWatch: (watch: Watch) => () => void;
}

/** A request for objects, authorized. */
export interface ResourceRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly definition: ResourceDefinition;
  readonly info: RequestInfo;
}

/** Answers requests for stored objects. */
export class ResourceRequests {
  readonly #store: Store;
  readonly #options: ResourceRequestOptions;
  readonly #remover: ObjectRemover;
  readonly #answers: Readonly<Record<Verb, (asked: ResourceRequest) => void | Promise<void>>> = {
    get: (asked) => this.#get(asked),
    list: (asked) => this.#list(asked),
    watch: (asked) => this.#watch(asked),
    create: async (asked) => await this.#create(asked),
    update: async (asked) => await this.#update(asked),
    patch: async (asked) => await this.#patch(asked),
    delete: async (asked) => await this.#delete(asked),
    deletecollection: (asked) => this.#deleteCollection(asked),
  };

  constructor(store: Store, options: ResourceRequestOptions) {
    this.#store = store;
    this.#options = options;
    this.#remover = new ObjectRemover(store, options.now);
  }

  async answer(asked: ResourceRequest): Promise<void> {
    await this.#answers[asked.info.verb](asked);
  }

  #get({ response, definition, info }: ResourceRequest): void {
    const { namespace, name } = placeOf(definition, info);
    const stored = this.#store.collection(definition).get(namespace, name);
    if (stored === undefined) throw notFound(definition, name);
    sendJson(response, 200, stored.text);
  }

  #list({ response, definition, info }: ResourceRequest): void {
    const { query } = info;
    const isSelective = info.namespace !== '' || isSelecting(query);
    const options = { selects: selectorOf(definition, info), isSelective, query };
    sendJson(response, 200, listText(this.#store, this.#store.collection(definition), options));
  }

  #watch({ response, definition, info }: ResourceRequest): void {
    const collection = this.#store.collection(definition);
    const version = versionOf(info.query.get('resourceVersion') ?? '');
    const since = version === 0 ? undefined : version;
    const selects = selectorOf(definition, info);
    const refusal = whyNotFrom(collection, since);
    if (refusal !== undefined && this.#options.refusesExpiredWatches) throw refusal;
    if (refusal !== undefined) {
      failWatch(response, refusal);
      return;
    }
    const seconds = Number(info.query.get('timeoutSeconds') ?? 0);
    const wantsBookmarks = isTrue(info.query.get('allowWatchBookmarks'));
    const watch = new Watch(collection, response, {
      since,
      selects,
      timeoutSeconds: seconds > 0 ? seconds : LEAST_WATCH_SECONDS + randomInt(LEAST_WATCH_SECONDS),
      bookmarkIntervalMs: wantsBookmarks ? this.#options.bookmarkIntervalMs : undefined,
      currentRevision: () => this.#store.revisions.current,
    });
    response.once('close', this.#options.onWatch(watch));
    watch.start();
  }

  async #create({ request, response, definition, info }: ResourceRequest): Promise<void> {
    if (info.name !== '' || (definition.namespaced && info.namespace === '')) {
      throw methodNotAllowed();
    }
    const body = await readBody(request, [JSON_TYPE]);
    sendWritten(
      response,
      this.#writer(definition).create(body, writeOptionsOf(request, definition, info)),
    );
  }

  async #update({ request, response, definition, info }: ResourceRequest): Promise<void> {
    const body = await readBody(request, [JSON_TYPE]);
    sendWritten(
      response,
      this.#writer(definition).replace(body, writeOptionsOf(request, definition, info)),
    );
  }

  async #patch({ request, response, definition, info }: ResourceRequest): Promise<void> {
    const type = mediaTypeOf(request);
    const body = await readBody(request, [MERGE_PATCH, APPLY_PATCH, JSON_PATCH]);
    const options = writeOptionsOf(request, definition, info);
    const writer = this.#writer(definition);
    switch (type) {
      case MERGE_PATCH:
        sendWritten(response, writer.patchByMerge(body, options));
        return;
      case JSON_PATCH:
        sendWritten(response, writer.patchByOperations(body, options));
        return;
      default:
        assertFieldManager(info);
        sendWritten(
          response,
          writer.apply(body, { ...options, force: isTrue(info.query.get('force')) }),
        );
    }
  }

  async #delete({ request, response, definition, info }: ResourceRequest): Promise<void> {
    const options = await readBody(request, [JSON_TYPE]);
    const place = placeOf(definition, info);
    const { stored, isGone } = this.#remover.remove(definition, place, options, isDryRun(info));
    const { uid } = stored.object.metadata;
    const { group, plural } = definition;
    const details = { name: place.name, ...(group !== '' && { group }), kind: plural, uid };
    const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
    sendJson(response, 200, isGone ? JSON.stringify(success) : stored.text);
  }

  #deleteCollection({ response, definition, info }: ResourceRequest): void {
    const removed = this.#remover.removeAll(definition, selectorOf(definition, info));
    const resourceVersion = String(this.#store.revisions.current);
    const collection = this.#store.collection(definition);
    sendJson(response, 200, listOf(collection, removed, { resourceVersion }));
  }

  #writer(definition: ResourceDefinition): ObjectWriter {
    return new ObjectWriter(this.#store, definition, this.#options.now);
  }
}

function sendWritten(response: ServerResponse, { created, stored, warnings }: Written): void {
  const texts = warnings.map((warning) => `299 - ${JSON.stringify(warning)}`);
  sendJson(response, created ? 201 : 200, stored.text, texts);
}

function selectorOf(definition: ResourceDefinition, { namespace, query }: RequestInfo): Selector {
  const byField = fieldSelectorOf(definition, query.get('fieldSelector') ?? '');
  const byLabel = labelSelectorOf(query.get('labelSelector') ?? '');
  const isEverywhere = !definition.namespaced || namespace === '';
  return (object) =>
    (isEverywhere || object.metadata.namespace === namespace) && byField(object) && byLabel(object);
}

function isSelecting(query: URLSearchParams): boolean {
  return query.has('fieldSelector') || query.has('labelSelector');
}
