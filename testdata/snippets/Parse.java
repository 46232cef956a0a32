import com.sun.source.util.JavacTask;
import java.nio.file.Path;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Reads Java from a file by the compiler's own parser and tells its syntax errors; no name is
 * looked up, so that no library is needed: java Parse.java FILE.
 */
final class Parse {
    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                null, files, found, List.of("-proc:none"), null, files.getJavaFileObjects(Path.of(args[0])));
            task.parse();
        }
        boolean bad = false;
        for (Diagnostic<?> d : found.getDiagnostics()) {
            if (d.getKind() == Diagnostic.Kind.ERROR) {
                System.err.println("line " + d.getLineNumber() + ": " + d.getMessage(null));
                bad = true;
            }
        }
        System.exit(bad ? 1 : 0);
    }
}
