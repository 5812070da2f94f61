import { execFile } from 'node:child_process';

/** What curl received. */
export interface CurlAnswer {
  /** 0 if there is no answer. */
  readonly status: number;
  readonly httpVersion: string;
  readonly location: string;
  readonly body: string;
  /** Of curl; 0 if it has an answer. */
  readonly exitCode: number;
}

const SEPARATOR = '\n--- ';

/** Sends a request by curl, and resolves with its answer, or with its exit code. */
export function curl(url: string, ...options: readonly string[]): Promise<CurlAnswer> {
  const format = `${SEPARATOR}%{http_code} %{http_version} %{redirect_url}`;
  const args = ['--silent', '--max-time', '20', '--write-out', format, ...options, url];
  return new Promise((resolve) => {
    execFile('curl', args, (error, stdout) => {
      const [body = '', facts = ''] = stdout.split(SEPARATOR);
      const [status = '0', httpVersion = '', location = ''] = facts.split(' ');
      const exitCode = error === null ? 0 : Number(error.code ?? -1);
      resolve({ status: Number(status), httpVersion, location, body, exitCode });
    });
  });
}

/** Options by which curl finds hosts on a port of this machine. */
export function resolving(hosts: readonly string[], port: number): readonly string[] {
  return hosts.flatMap((host) => ['--resolve', `${host}:${String(port)}:127.0.0.1`]);
}
