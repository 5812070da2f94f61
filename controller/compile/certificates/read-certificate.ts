import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import { certificateNames } from './certificate-names.ts';
import { refusalOf } from './refusal-of-openssl.ts';

/** A certificate that can be served, with what proxies do not need to know of it. */
export interface UsableCertificate {
  readonly content: Omit<CompiledCertificate, 'kind' | 'name'>;
  /** In seconds since the epoch. */
  readonly notBefore: number;
}

/** A certificate, or what is wrong with it. The text never has a part of the key. */
export type ReadCertificate =
  | { readonly kind: 'usable'; readonly certificate: UsableCertificate }
  | { readonly kind: 'unusable'; readonly why: string };

/** A certificate with its authorities, and its key, in PEM. */
export interface CertificatePair {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;
const MIN_RSA_BITS = 2_048;
/** Curves that TLS 1.3 has signatures for (RFC 8446, section 4.2.3). */
const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const WEAK_SIGNATURE = /sha1(?!\d)|md5/i;
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const ANY_PURPOSE = '2.5.29.37.0';
const MS_PER_SECOND = 1000;
/** OpenSSL and what is built on it refuse more from a server (SSL_CTX_set_max_cert_list). */
const MAX_CHAIN_BYTES = 100 * 1024;

/** Reads a certificate and its key, and checks that a server can use them. */
export function readCertificatePair(pair: CertificatePair): ReadCertificate {
  const [chain, key] = [chainOf(pair.certificate), keyOf(pair.privateKey)];
  if (typeof chain === 'string') return unusable(`its tls.crt ${chain}`);
  if (key === undefined)
    return unusable('its tls.key is not a private key in PEM without password');
  const [leaf] = chain;
  if (leaf === undefined) return unusable('its tls.crt has no certificate in PEM');
  const hosts = certificateNames(leaf);
  const why =
    sizeFault(chain) ??
    keyFault(key) ??
    matchFault(chain, key) ??
    signatureFault(chain) ??
    purposeFault(leaf, hosts) ??
    timeFault(leaf);
  if (why !== undefined) return unusable(why);
  const certificate = chain.map((one) => one.toString()).join('');
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' });
  const refusal = refusalOf(certificate, privateKey);
  if (refusal !== undefined) return unusable(refusal);
  const [notBefore, notAfter] = [secondsOf(leaf.validFromDate), secondsOf(leaf.validToDate)];
  const content = { certificate, privateKey, hosts, notAfter };
  return { kind: 'usable', certificate: { content, notBefore } };
}

/** The certificates in a file, or what is wrong with it. Text between them is ignored, as OpenSSL does. */
function chainOf(pem: Buffer): readonly X509Certificate[] | string {
  const blocks = [...pem.toString('latin1').matchAll(BLOCK)];
  const other = blocks.find(([, label]) => label !== 'CERTIFICATE');
  // Attack: a key beside the certificates would be sent to every client, if it were copied.
  if (other !== undefined) return 'has something else than certificates';
  try {
    return blocks.map(([block]) => new X509Certificate(block));
  } catch {
    return 'has a certificate that cannot be read';
  }
}

/** Undefined if it is not a key. Messages of OpenSSL are dropped: they may quote it. */
function keyOf(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function keyFault({
  asymmetricKeyType: type,
  asymmetricKeyDetails = {},
}: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails;
  if (type === 'rsa' || type === 'rsa-pss') {
    if (modulusLength >= MIN_RSA_BITS) return undefined;
    return `its RSA key has ${String(modulusLength)} bits, and less than ${String(MIN_RSA_BITS)} are too weak`;
  }
  if (type === 'ec') {
    if (CURVES.has(namedCurve)) return undefined;
    return 'the curve of its key is none of P-256, P-384 and P-521, which clients know';
  }
  return type === 'ed25519' ? undefined : 'its key is none of RSA, EC and Ed25519';
}

/** Attack: each client that begins a handshake would be sent a megabyte. */
function sizeFault(chain: readonly X509Certificate[]): string | undefined {
  const bytes = chain.reduce((sum, { raw }) => sum + raw.length, 0);
  if (bytes <= MAX_CHAIN_BYTES) return undefined;
  return 'its tls.crt has certificates of more than 100 KiB together, which clients refuse';
}

function matchFault(chain: readonly X509Certificate[], key: KeyObject): string | undefined {
  const place = chain.findIndex((one) => one.checkPrivateKey(key));
  if (place === 0) return undefined;
  if (place === -1) return 'its tls.key does not belong to its tls.crt';
  return `the certificate of its tls.key must be the first in tls.crt, and is number ${String(place + 1)}`;
}

function purposeFault(leaf: X509Certificate, names: readonly string[]): string | undefined {
  // Absent: any purpose (RFC 5280, section 4.2.1.12). Its type does not say so.
  const purposes = leaf.keyUsage as readonly string[] | undefined;
  if (purposes?.some((one) => one === SERVER_AUTH || one === ANY_PURPOSE) === false) {
    return 'its certificate is not for servers (extended key usage)';
  }
  return names.length > 0 ? undefined : 'its certificate names no host (subject alternative name)';
}

/** The signature of an authority by itself proves nothing, so that its strength does not count. */
function signatureFault(chain: readonly X509Certificate[]): string | undefined {
  const weak = chain.findIndex(
    (one) => one.issuer !== one.subject && WEAK_SIGNATURE.test(one.signatureAlgorithm ?? ''),
  );
  if (weak === -1) return undefined;
  return `certificate ${String(weak + 1)} of tls.crt is signed with SHA-1 or MD5, which clients refuse`;
}

/** Attack: OpenSSL reads month 13, and a time that is none stops the controller when it is written to a status. */
function timeFault({ validFromDate, validToDate }: X509Certificate): string | undefined {
  const isTime = Number.isFinite(secondsOf(validFromDate)) && secondsOf(validToDate) >= 0;
  return isTime ? undefined : 'its certificate has no valid time, or one that ended before 1970';
}

function secondsOf(time: { getTime(): number }): number {
  return Math.floor(time.getTime() / MS_PER_SECOND);
}

function unusable(why: string): ReadCertificate {
  return { kind: 'unusable', why };
}
