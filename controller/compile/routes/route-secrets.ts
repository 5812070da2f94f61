import type { Route } from '../../../crds/types.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Problem } from '../../validate/problem.ts';
import { secretNamesOf, type CertificateValidity } from '../certificates/certificate-validity.ts';
import { hostOfRoute } from '../address.ts';
import { namespaceOf } from '../resources.ts';
import {
  NO_CLIENT_SECRET,
  readClientSecretRef,
  resolveClientSecret,
  secretNameOf,
  withClientSecret,
  type ReferableSecrets,
} from './client-secret.ts';
import {
  NO_CERTIFICATES,
  permittedRefs,
  readCertificateRefs,
  resolveCertificates,
} from './route-certificates.ts';

/** The references of one generation of a route to Secrets. It serves as far as it can without them. */
export class RouteSecrets {
  readonly #namespace: string;
  /** Undefined if its address cannot be read. */
  readonly #host: string | undefined;
  readonly #clientSecretRef;
  readonly #certificateRefs;
  #clientSecret = NO_CLIENT_SECRET;
  #certificates = NO_CERTIFICATES;
  /** `namespace/name` of the Secrets that it may refer to. */
  names: readonly string[] = [];

  constructor(route: Route) {
    this.#namespace = namespaceOf(route);
    this.#host = hostOfRoute(route);
    this.#clientSecretRef = readClientSecretRef(route);
    this.#certificateRefs = readCertificateRefs(route);
  }

  /** Namespaces that have to permit a reference. */
  get foreignNamespaces(): readonly string[] {
    const namespaces = this.#certificateRefs.map(({ namespace }) => namespace);
    return namespaces.filter((namespace) => namespace !== this.#namespace);
  }

  /** Resolves the references again. Returns whether the result changed. */
  resolve(secrets: ReferableSecrets): boolean {
    const [ref, refs, host] = [this.#clientSecretRef, this.#certificateRefs, this.#host];
    if (ref === undefined && refs.length === 0) return false;
    const before = this.#mark;
    if (ref !== undefined) this.#clientSecret = resolveClientSecret(ref, secrets);
    if (host !== undefined) {
      this.#certificates = resolveCertificates(refs, { own: this.#namespace, host }, secrets);
    }
    const permitted = permittedRefs(refs, this.#namespace, secrets.services);
    const clientSecrets = ref === undefined ? [] : [secretNameOf(ref)];
    this.names = [...clientSecrets, ...permitted.map(({ secret }) => secret)];
    return this.#mark !== before;
  }

  get problems(): readonly Problem[] {
    return [...this.#clientSecret.problems, ...this.#certificates.problems];
  }

  /** The certificates that serve its host. */
  get certificates(): readonly CertificateValidity[] {
    return this.#certificates.certificates;
  }

  /** Adds what the references resolve to to a compiled route. */
  addTo(route: CompiledRoute): CompiledRoute {
    const certificates = secretNamesOf(this.certificates);
    return {
      ...withClientSecret(route, this.#clientSecret),
      ...(certificates.length > 0 && { certificates }),
    };
  }

  get #mark(): string {
    return JSON.stringify([this.#clientSecret, this.#certificates, this.names]);
  }
}
