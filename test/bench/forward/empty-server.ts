/** The upper limit of anything built on node:http: a server that reads the request and responds itself. */
import './upstream.ts';
