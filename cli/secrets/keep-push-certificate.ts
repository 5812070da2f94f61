import { X509Certificate } from 'node:crypto';

import { CONFIG_MAPS, SECRETS } from '../../controller/kubernetes/resource-types.ts';
import { makeSelfSignedCertificate } from './self-signed-certificate.ts';
import {
  isOurs,
  findStored,
  storedData,
  writeStored,
  type Place,
  type SecretsApi,
} from './stored-secret.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Renewed once half of it is over, so that an upgrade every year and a half is enough. */
const LIFETIME_MS = 3 * 365 * DAY_MS;
/** Clocks of nodes may differ. */
const VALID_BEFORE_MS = HOUR_MS;
/** How long proxies trust the certificate before: mounted files are renewed within some minutes. */
const TRUSTED_AFTER_MS = HOUR_MS;
const ROTATION = 'gatehouse.dev/rotation';
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** The certificate of the push listener, and where proxies find its authority. */
export interface PushCertificateWish {
  readonly secret: Place;
  /** A ConfigMap, whose `ca.crt` proxies trust. */
  readonly authority: Place;
  readonly hosts: readonly string[];
  /** A text whose change asks for a new certificate; undefined asks for none. */
  readonly rotation: string | undefined;
}

/**
 * Makes the certificate of the push listener, or a new one in time. Proxies get to know a new one before
 * controllers do, and go on trusting the one before for an hour. Resolves with what it did.
 *
 * A Secret that this command did not make is left as it is.
 */
export async function keepPushCertificate(
  api: SecretsApi,
  wish: PushCertificateWish,
  now: Date,
): Promise<readonly string[]> {
  const before = await findStored(api, SECRETS, wish.secret);
  if (before !== undefined && !isOurs(before)) return ['left it as it is: somebody else made it'];
  const current = Buffer.from(storedData(before).get('tls.crt') ?? '', 'base64').toString();
  const recorded = before?.metadata.annotations?.[ROTATION];
  const reason = whyRenew(current, { ...wish, recorded }, now);
  if (reason === undefined) {
    const isSettled = now.getTime() - parse(current).validFromDate.getTime() > 2 * TRUSTED_AFTER_MS;
    const trusted = isSettled ? [current] : [current, ...(await trustedBefore(api, wish))];
    return trust(api, wish, trusted);
  }
  const { certificate, privateKey } = makeSelfSignedCertificate({
    name: wish.secret.name,
    hosts: wish.hosts,
    validFrom: new Date(now.getTime() - VALID_BEFORE_MS),
    validTo: new Date(now.getTime() + LIFETIME_MS),
  });
  await trust(api, wish, [certificate, ...(current === '' ? [] : [current])]);
  await writeStored(api, { type: SECRETS, place: wish.secret }, before, {
    type: 'kubernetes.io/tls',
    annotations: wish.rotation === undefined ? {} : { [ROTATION]: wish.rotation },
    data: { 'tls.crt': encode(certificate), 'tls.key': encode(privateKey) },
  });
  return [`made a certificate: ${reason}`];
}

function whyRenew(
  current: string,
  {
    hosts,
    rotation,
    recorded,
  }: Pick<PushCertificateWish, 'hosts' | 'rotation'> & { readonly recorded: string | undefined },
  now: Date,
): string | undefined {
  if (current === '') return 'there was none';
  const certificate = tryParse(current);
  if (certificate === undefined) return 'the one before cannot be read';
  const missing = hosts.find((host) => certificate.checkHost(host) === undefined);
  if (missing !== undefined) return `the one before is not for ${missing}`;
  const { validFromDate, validToDate } = certificate;
  const halfway = (validFromDate.getTime() + validToDate.getTime()) / 2;
  if (now.getTime() > halfway) return `the one before expires on ${validToDate.toISOString()}`;
  return rotation !== undefined && rotation !== recorded ? 'a new one was asked for' : undefined;
}

/** Writes what proxies trust, unless it is so already. */
async function trust(
  api: SecretsApi,
  { authority }: PushCertificateWish,
  certificates: readonly string[],
): Promise<readonly string[]> {
  const before = await findStored(api, CONFIG_MAPS, authority);
  const wanted = [...new Set(certificates.map((text) => `${text.trim()}\n`))].join('');
  if (storedData(before).get('ca.crt') === wanted) return [];
  const data = { 'ca.crt': wanted };
  await writeStored(api, { type: CONFIG_MAPS, place: authority }, before, { data });
  return [`changed what proxies trust, in ConfigMap ${authority.namespace}/${authority.name}`];
}

async function trustedBefore(
  api: SecretsApi,
  { authority }: PushCertificateWish,
): Promise<readonly string[]> {
  const stored = storedData(await findStored(api, CONFIG_MAPS, authority)).get('ca.crt') ?? '';
  return stored.match(CERTIFICATES) ?? [];
}

function parse(certificate: string): X509Certificate {
  return new X509Certificate(certificate);
}

function tryParse(certificate: string): X509Certificate | undefined {
  try {
    return parse(certificate);
  } catch {
    return undefined;
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
