import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';

import { errorCode } from '../../../shared/runtime/error-code.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PushMetrics } from '../../telemetry/push-metrics.ts';

const CERTIFICATE_FILE = 'tls.crt';
const KEY_FILE = 'tls.key';
const EXPIRES_SOON_MS = 7 * 24 * 60 * 60 * 1000;

/** A certificate with its chain, and its private key, both PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Reads and checks the certificate in a directory. Rejects with an error that names the problem. */
export async function readCertificate(directory: string): Promise<ServerCertificate> {
  const pair = await readPair(directory);
  checkPair(pair, directory);
  return pair;
}

/**
 * Reports when a certificate expires, and warns of one that has expired or expires soon. It is used all the
 * same: clocks may differ.
 */
export function reportExpiry(
  { cert }: ServerCertificate,
  {
    logger,
    metrics,
  }: { readonly logger: Logger; readonly metrics: Pick<PushMetrics, 'certificateExpires'> },
): void {
  const { validToDate } = new X509Certificate(cert);
  metrics.certificateExpires(validToDate.getTime());
  const leftMs = validToDate.getTime() - Date.now();
  const fields = { validTo: validToDate.toISOString() };
  if (leftMs <= 0) logger.warn('certificate of the push listener has expired', fields);
  else if (leftMs <= EXPIRES_SOON_MS)
    logger.warn('certificate of the push listener expires soon', fields);
}

/** Options of a certificate watch. */
export interface CertificateWatchOptions {
  readonly directory: string;
  /** The certificate in use. */
  readonly certificate: ServerCertificate;
  readonly pollMs: number;
  readonly onChange: (certificate: ServerCertificate) => void;
  readonly logger: Logger;
}

/**
 * Reports a certificate that replaces the one in use.
 *
 * A reader may see one file replaced and the other not yet, so a change counts once two readings in a
 * row agree. An unusable pair is logged once and ignored.
 */
export class CertificateWatch {
  readonly #options: CertificateWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #seen: string;
  #current: string;

  constructor(options: CertificateWatchOptions) {
    this.#options = options;
    this.#seen = fingerprint(options.certificate);
    this.#current = this.#seen;
    this.#timer = setInterval(() => void this.#poll(), options.pollMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    const { directory, logger, onChange } = this.#options;
    const pair = await readPair(directory).catch(() => undefined);
    const seen = pair === undefined ? '' : fingerprint(pair);
    const isStable = seen === this.#seen;
    this.#seen = seen;
    if (!isStable || seen === this.#current) return;
    this.#current = seen;
    try {
      const certificate = await readCertificate(directory);
      onChange(certificate);
    } catch (error) {
      logger.error('certificate of the push listener is unusable, keeping the last one', {}, error);
    }
  }
}

async function readPair(directory: string): Promise<ServerCertificate> {
  const cert = await readText(join(directory, CERTIFICATE_FILE));
  const key = await readText(join(directory, KEY_FILE));
  return { cert, key };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read ${file}: ${errorCode(cause) ?? 'unknown error'}`, { cause });
  }
}

function checkPair(pair: ServerCertificate, directory: string): void {
  try {
    createSecureContext(pair);
  } catch (cause) {
    const files = `${CERTIFICATE_FILE} and ${KEY_FILE} in ${directory}`;
    throw new Error(`${files} are not a certificate and its private key`, { cause });
  }
}

function fingerprint({ cert, key }: ServerCertificate): string {
  return `${cert}\n${key}`;
}
