import { execFile } from 'node:child_process';

/** The output and the exit code of a tool. */
export interface ToolResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a script with this Node, in a directory, to its end. */
export function runTool(
  script: string,
  argv: readonly string[],
  directory: string,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...argv], { cwd: directory }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
