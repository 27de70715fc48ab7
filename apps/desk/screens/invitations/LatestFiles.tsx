import { Link, type LoaderFunctionArgs, useLoaderData } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import table from '../../components/Table.module.css';
import { Time } from '../../components/Time.tsx';
import { call } from '../../lib/call.ts';
import styles from './Invitations.module.css';
import { type ImportFile, stateOf } from './loadImport.ts';

export async function loadFiles({ request }: LoaderFunctionArgs): Promise<ImportFile[]> {
  return (await call('getImports', { signal: request.signal })).imports;
}

/** The latest files, both uploaded by staff and generated. */
export function LatestFiles() {
  const files = useLoaderData() as ImportFile[];
  return (
    <>
      <PageHeading title="Latest files" />
      {files.length === 0 ? (
        <p className={styles.nothing}>No file was uploaded yet.</p>
      ) : (
        <table className={`${table.table} ${styles.list}`}>
          <caption className="sr">Latest files</caption>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">Campaign</th>
              <th scope="col">By</th>
              <th scope="col">When</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {files.map(({ id, fileName, campaign, staff, at, kind, state, isEmptied }) => (
              <tr key={id}>
                <td>
                  <Link to={`/invitations/files/${id}`}>{fileName}</Link>
                </td>
                <td>{campaign}</td>
                <td>{staff}</td>
                <td>
                  <Time at={at} />
                </td>
                <td>{stateOf({ kind, state, isEmptied })}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
